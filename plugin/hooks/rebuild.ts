// The conversation that a compaction leaves behind, out of the event's own messages and what the program changed.
// Nothing here touches `$`.

import type { SessionCompacted, SessionMessage, ToolResultSummary, ToolUseSummary } from 'claude-code'
import type { Answer, MessageSpec, Parsed, TextSpec } from './wire'

type MessagesAnswer = Extract<Answer, { kind: 'messages' }>

/**
 * Builds the messages that the program named by index. No message keeps its `handle`: with a handle on any of them, a
 * resume brings the uncut results back. An index that names nothing gives a line instead: half a conversation must not
 * be handed back.
 */
export function rebuild(messages: readonly SessionMessage[], answer: MessagesAnswer): Parsed<SessionCompacted> {
  try {
    const built = answer.messages.map(spec => messageOf(messages, spec))
    if (built.length === 0) return { line: 'the program handed back no message at all' }
    return { value: { messages: built, ...sizesOf(answer) } }
  } catch (error) {
    return { line: error instanceof Error ? error.message : String(error) }
  }
}

function sizesOf(answer: MessagesAnswer): { tokensBefore?: number; tokensAfter?: number } {
  const before = answer.tokens_before === undefined ? {} : { tokensBefore: answer.tokens_before }
  return answer.tokens_after === undefined ? before : { ...before, tokensAfter: answer.tokens_after }
}

function messageOf(messages: readonly SessionMessage[], spec: MessageSpec): SessionMessage {
  const built: SessionMessage = { role: spec.role, text: textOf(messages, spec.text), toolUses: (spec.tool_uses ?? []).map(use => useOf(messages, use)) }
  if (spec.tool_results?.length) built.toolResults = spec.tool_results.map(result => resultOf(messages, result))
  return built
}

function textOf(messages: readonly SessionMessage[], text: TextSpec | undefined): string {
  if (text === undefined || typeof text === 'string') return text ?? ''
  return entry(messages, text.of).text
}

function useOf(messages: readonly SessionMessage[], spec: { of: number; at: number; input?: Record<string, unknown> }): ToolUseSummary {
  const use = entry(messages, spec.of).toolUses[spec.at]
  if (use === undefined) throw new Error(`the program named call ${spec.at} of message ${spec.of}, which has none`)
  // The outcome belongs to the result that follows; the client reads it there.
  return { tool_use_id: use.tool_use_id, tool: use.tool, input: spec.input ?? use.input }
}

function resultOf(messages: readonly SessionMessage[], spec: { of: number; at: number; text?: string }): ToolResultSummary {
  const result = entry(messages, spec.of).toolResults?.[spec.at]
  if (result === undefined) throw new Error(`the program named result ${spec.at} of message ${spec.of}, which has none`)
  if (spec.text === undefined) return { ...result }
  // `text` is what the model is sent. The stored record still held the whole output, so it goes.
  return { tool_use_id: result.tool_use_id, text: spec.text, isError: result.isError }
}

function entry(messages: readonly SessionMessage[], index: number): SessionMessage {
  const message = messages[index]
  if (message === undefined) throw new Error(`the program named message ${index} of ${messages.length}`)
  return message
}
