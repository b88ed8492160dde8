// The conversation that a compaction leaves behind, out of the event's own messages and what the program changed.
// Nothing here touches `$`.

import type { SessionMessage, ToolResultSummary, ToolUseSummary } from 'claude-code'
import type { MessageSpec, TextSpec } from './wire'

/**
 * Builds the messages that the program named by index. No message keeps its `handle`: with a handle on any of them, a
 * resume brings the uncut results back.
 *
 * Throws when an index names nothing: half a conversation must not be handed back.
 */
export function rebuild(messages: readonly SessionMessage[], specs: readonly MessageSpec[]): SessionMessage[] {
  return specs.map((spec): SessionMessage => {
    const built: SessionMessage = { role: spec.role, text: textOf(messages, spec.text), toolUses: (spec.tool_uses ?? []).map(use => useOf(messages, use)) }
    if (spec.tool_results?.length) built.toolResults = spec.tool_results.map(result => resultOf(messages, result))
    return built
  })
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
