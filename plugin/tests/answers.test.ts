import type { SessionCompactInput, SessionMessage } from 'claude-code'
import { describe, expect } from 'claude-code/testing'
import type { Request } from './world'
import { MEASURE, START, classic, ended, planFor, test, world } from './world'

/** A conversation as the client hands it over: one entry a content block. */
const CONVERSATION: SessionMessage[] = [
  { role: 'user', text: 'look at both', toolUses: [], handle: 'h0' },
  { role: 'assistant', text: 'I look.', toolUses: [], handle: 'h1' },
  { role: 'assistant', text: '', toolUses: [{ tool_use_id: 'u1', tool: 'Bash', input: { command: 'seq 900' }, result: { stdout: 'long' }, text: 'long' }], handle: 'h2' },
  { role: 'assistant', text: '', toolUses: [{ tool_use_id: 'u2', tool: 'Write', input: { file_path: '/a', content: 'much' } }], handle: 'h3' },
  { role: 'user', text: '', toolUses: [], toolResults: [{ tool_use_id: 'u1', text: 'long', isError: false, result: { stdout: 'long' } }], handle: 'h4' },
  { role: 'user', text: '', toolUses: [], toolResults: [{ tool_use_id: 'u2', text: 'written', isError: false, result: { type: 'create' } }], handle: 'h5' },
  { role: 'assistant', text: 'Done.', toolUses: [], handle: 'h6' },
]

const SUMMARY: SessionMessage[] = [{ role: 'user', text: 'the client’s own summary', toolUses: [] }]

function compaction(more: Partial<SessionCompactInput> = {}): SessionCompactInput {
  return { trigger: 'manual', messages: CONVERSATION, ...more }
}

describe('session.compact', () => {
  test('sends the event whole, with twenty seconds for it where the plan gives no time', async ($, on) => {
    const w = world(on)
    w.plan = () => ({ v: 1, fingerprint: 'one', events: { 'session.compact': { wake: ['always'], timeout_ms: 0 } } })
    w.hook = () => ({ v: 1, answer: { kind: 'skip', reason: 'use /fresh-window' } })
    expect(await $.session.compact(compaction({ instructions: 'prune' }))).toEqual({ skip: 'use /fresh-window' })
    expect(w.hooks[0]?.e).toEqual(compaction({ instructions: 'prune' }) as never)
    expect(w.runs.at(-1)?.timeoutMs).toBe(20000)
  })

  test('goes on with other instructions', async ($, on) => {
    const w = world(on)
    w.plan = () => planFor('session.compact')
    w.hook = () => ({ v: 1, answer: { kind: 'next', instructions: 'as a handoff' } })
    const seen: (string | undefined)[] = []
    on('session.compact', ($, e) => {
      seen.push(e.instructions)
      return { messages: SUMMARY }
    })
    expect((await $.session.compact(compaction({ instructions: 'keep names' }))).messages).toEqual(SUMMARY)
    expect(seen).toEqual(['as a handoff'])
  })

  test('goes on as it was', async ($, on) => {
    const w = world(on)
    w.plan = () => planFor('session.compact')
    w.hook = request => (request.e.instructions === 'next' ? { v: 1, answer: { kind: 'next' } } : { v: 1 })
    const seen: (string | undefined)[] = []
    on('session.compact', ($, e) => {
      seen.push(e.instructions)
      return { messages: SUMMARY }
    })
    await $.session.compact(compaction({ instructions: 'next' }))
    await $.session.compact(compaction({ instructions: 'nothing' }))
    expect(seen).toEqual(['next', 'nothing'])
  })

  test('rebuilds the conversation by index: no handles, cut results without their record, shrunk inputs', async ($, on) => {
    const w = world(on)
    w.plan = () => planFor('session.compact')
    w.hook = () => ({
      v: 1,
      answer: {
        kind: 'messages',
        messages: [
          { role: 'user', text: { of: 0 } },
          { role: 'assistant', text: { of: 1 }, tool_uses: [{ of: 2, at: 0 }, { of: 3, at: 0, input: { file_path: '/a', content: 'm…' } }] },
          { role: 'user', tool_results: [{ of: 4, at: 0, text: 'lo… cut' }, { of: 5, at: 0 }] },
          { role: 'user', text: 'typed meanwhile' },
          { role: 'assistant', text: { of: 6 } },
        ],
        tokens_before: 900,
        tokens_after: 100,
      },
    })
    const answer = await $.session.compact(compaction({ instructions: 'prune' }))
    expect(answer).toEqual({
      messages: [
        { role: 'user', text: 'look at both', toolUses: [] },
        {
          role: 'assistant',
          text: 'I look.',
          toolUses: [
            { tool_use_id: 'u1', tool: 'Bash', input: { command: 'seq 900' } },
            { tool_use_id: 'u2', tool: 'Write', input: { file_path: '/a', content: 'm…' } },
          ],
        },
        {
          role: 'user',
          text: '',
          toolUses: [],
          toolResults: [
            { tool_use_id: 'u1', text: 'lo… cut', isError: false },
            { tool_use_id: 'u2', text: 'written', isError: false, result: { type: 'create' } },
          ],
        },
        { role: 'user', text: 'typed meanwhile', toolUses: [] },
        { role: 'assistant', text: 'Done.', toolUses: [] },
      ],
      tokensBefore: 900,
      tokensAfter: 100,
    })
  })

  test('a reply that names what is not there never hands back half a conversation', async ($, on) => {
    const w = world(on)
    w.plan = () => planFor('session.compact')
    on('session.compact', () => ({ messages: SUMMARY }))
    for (const spec of [{ role: 'user', text: { of: 7 } }, { role: 'assistant', tool_uses: [{ of: 2, at: 1 }] }, { role: 'user', tool_results: [{ of: 0, at: 0 }] }]) {
      w.hook = () => ({ v: 1, answer: { kind: 'messages', messages: [spec] } })
      expect((await $.session.compact(compaction())).messages).toEqual(SUMMARY)
    }
    expect(w.lines.length).toBe(3)
    expect(w.lines[0]).toContain('message 7 of 7')
  })

  test('a subagent’s compaction is told as such', async ($, on) => {
    const w = world(on)
    w.plan = () => planFor('session.compact')
    on('session.compact', () => ({ messages: SUMMARY }))
    await $.session.compact(compaction({ trigger: 'auto', agentId: 'a-1' }))
    expect(w.hooks[0]?.facts.agent_id).toBe('a-1')
  })
})

const PERSON = { origin: { kind: 'composer' as const }, presentation: { isFullscreen: false, columns: 80 } }

function planWithCommands(): Record<string, unknown> {
  const commands = ['fresh-window', 'prune-preview', 'notesoup'].map(name => ({ name, description: name }))
  return { ...planFor('command.run'), commands }
}

function planWithTools(): Record<string, unknown> {
  return { ...planFor('tool.call'), tools: [{ name: 'notes_list', description: 'Lists notes.', input_schema: { type: 'object' } }] }
}

describe('commands', () => {
  test('show their lines to the person and give the model nothing', async ($, on) => {
    const w = world(on)
    w.plan = () => planWithCommands()
    w.hook = () => ({ v: 1, answer: { kind: 'lines', lines: ['before → after', 'Bash 3'] } })
    await $.session.start(START)
    expect(await $.command.run({ command: 'prune-preview', args: '', ...PERSON })).toEqual({})
    expect(w.lines).toEqual(['before → after', 'Bash 3'])
    expect(w.hooks[0]?.e).toEqual({ command: 'prune-preview', args: '', ...PERSON } as never)
  })

  test('are printed where nobody sees a screen', async ($, on) => {
    const w = world(on, { surfaces: [] })
    w.plan = () => planWithCommands()
    w.hook = () => ({ v: 1, answer: { kind: 'lines', lines: ['one', 'two'] } })
    await $.session.start({ ...START, surface: null, isInteractive: false })
    const answer = await $.command.run({ command: 'notesoup', args: '', ...PERSON })
    expect(answer.text).toBe('one\ntwo')
    expect(w.lines).toEqual([])
    expect(w.hooks[0]?.facts.headless).toBe(true)
  })

  test('say why they cannot run', async ($, on) => {
    const w = world(on)
    w.plan = () => planWithCommands()
    w.hook = () => ({ fail: 'still running after 5000ms' })
    await $.session.start(START)
    await $.command.run({ command: 'fresh-window', args: '', ...PERSON })
    expect(w.lines.at(-1)).toBe('/fresh-window cannot run: the program took longer than 5 s')
  })

  test('of others are left alone, also one that has our name', async ($, on) => {
    const w = world(on, { refused: ['prune-preview'] })
    w.plan = () => planWithCommands()
    on('command.run', () => ({ text: 'theirs' }))
    await $.session.start(START)
    expect((await $.command.run({ command: 'theirs', args: '', ...PERSON })).text).toBe('theirs')
    expect((await $.command.run({ command: 'prune-preview', args: '', ...PERSON })).text).toBe('theirs')
    expect(w.hooks.length).toBe(0)
  })
})

describe('tools', () => {
  test('answer with the text, an error only on a refusal', async ($, on) => {
    const w = world(on)
    w.plan = () => planWithTools()
    w.hook = request => ({ v: 1, answer: { kind: 'tool', text: `asked for ${request.e.q}`, is_error: request.e.q === 'nothing' } })
    await $.session.start(START)
    expect((await $.tool.call({ tool: 'mcp__notesoup__notes_list', q: 'soup' })).result).toBe('asked for soup')
    const refused = await $.tool.call({ tool: 'mcp__notesoup__notes_list', q: 'nothing', agentId: 'a-1' })
    expect(refused.deny).toBe('asked for nothing')
    expect(w.hooks.map(request => [request.e.tool, request.facts.agent_id])).toEqual([
      ['mcp__notesoup__notes_list', null],
      ['mcp__notesoup__notes_list', 'a-1'],
    ])
    expect(w.hooks[0]?.facts.tool_use_id).toBe(w.hooks[0]?.e.tool_use_id)
    expect(typeof w.hooks[0]?.facts.tool_use_id).toBe('string')
  })

  test('of an MCP server that has our name are left alone', async ($, on) => {
    const w = world(on)
    w.plan = () => planWithTools()
    on('tool.call', () => ({ result: 'theirs' }))
    await $.session.start(START)
    expect((await $.tool.call({ tool: 'mcp__notesoup__other' })).result).toBe('theirs')
    expect(w.hooks.length).toBe(0)
  })

  test('tell the model why they cannot answer', async ($, on) => {
    const w = world(on)
    w.plan = () => planWithTools()
    w.hook = () => ({ run: { exitCode: 101, stderr: 'boom\nmore' } })
    await $.session.start(START)
    const answer = await $.tool.call({ tool: 'mcp__notesoup__notes_list' })
    expect(answer.deny).toBe('notesoup cannot answer: the program ended with exit code 101: boom')
  })
})

describe('effects', () => {
  test('a compaction runs inside the hook that decided it, sees the state that was written, and its end is told', async ($, on) => {
    const w = world(on)
    w.plan = () => planFor('turn.complete', 'session.compact')
    w.hook = request => answerReset(request)
    await $.turn.complete(ended('t1'))
    expect(w.hooks.map(request => [request.event, request.state])).toEqual([
      ['turn.complete', null],
      ['session.compact', { inFlight: 'c1' }],
      ['effect.settled', { inFlight: 'c1', stands: true }],
    ])
    expect(w.hooks[1]?.facts.origin_plugin).toBe('notesoup')
    expect(w.hooks[2]?.e).toEqual({ id: 'c1', effect: 'compact', ok: true })
    expect(w.lines).toEqual(['before', 'settled', 'after'])
    w.hook = () => ({ v: 1 })
    await $.turn.complete(ended('t2'))
    expect(w.hooks.at(-1)?.state).toEqual({ done: true })
  })

  test('a compaction that is skipped says so', async ($, on) => {
    const w = world(on)
    w.plan = () => planFor('session.measure', 'session.compact')
    w.hook = request => {
      if (request.event === 'session.measure') return { v: 1, effects: [{ effect: 'compact', id: 'c1' }] }
      return request.event === 'session.compact' ? { v: 1, answer: { kind: 'skip', reason: 'no boot' } } : { v: 1 }
    }
    await $.session.measure(MEASURE)
    expect(w.hooks.at(-1)?.e).toEqual({ id: 'c1', effect: 'compact', ok: false, skip: 'no boot' })
  })

  test('a compaction that the person stops counts as aborted', async ($, on) => {
    const w = world(on)
    w.plan = () => planFor('session.measure', 'session.compact')
    w.hook = request => {
      if (request.event === 'session.measure') return { v: 1, effects: [{ effect: 'compact', id: 'c1' }] }
      return request.event === 'session.compact' ? { v: 1, answer: { kind: 'skip', reason: 'interrupted' } } : { v: 1 }
    }
    await $.session.measure(MEASURE)
    expect(w.hooks.at(-1)?.e).toEqual({ id: 'c1', effect: 'compact', ok: false, error: 'aborted' })
  })

  test('a reset of ours that cannot be answered leaves the window as it is', async ($, on) => {
    const w = world(on)
    w.plan = () => planFor('session.measure', 'session.compact')
    let native = 0
    on('session.compact', ($, e) => {
      native += 1
      return { messages: e.messages }
    })
    w.hook = request => {
      if (request.event === 'session.measure') return { v: 1, effects: [{ effect: 'compact', id: 'c1' }] }
      return request.event === 'session.compact' ? { run: { exitCode: 1, stderr: 'no luck' } } : { v: 1 }
    }
    await $.session.measure(MEASURE)
    const why = 'the program ended with exit code 1: no luck'
    expect(w.hooks.at(-1)?.e).toEqual({ id: 'c1', effect: 'compact', ok: false, skip: why })
    expect(await $.session.compact(compaction({ instructions: 'notesoup-reset 7' }))).toEqual({ skip: why })
    expect(native).toBe(0)
    await $.session.compact(compaction({ instructions: 'keep the names' }))
    expect(native).toBe(1)
  })

  test('a compaction that fails says why', async ($, on) => {
    const w = world(on)
    w.plan = () => planFor('session.measure')
    w.hook = request => (request.event === 'session.measure' ? { v: 1, effects: [{ effect: 'compact', id: 'c1' }] } : { v: 1 })
    await $.session.measure(MEASURE)
    const outcome = w.hooks.at(-1)?.e
    expect(outcome?.ok).toBe(false)
    expect(typeof (outcome?.error ?? outcome?.skip)).toBe('string')
  })

  test('a command is run and told', async ($, on) => {
    const w = world(on)
    w.plan = () => planFor('session.measure')
    const ran: unknown[] = []
    on('command.run', ($, e) => {
      ran.push([e.command, e.args])
      return { text: 'ok' }
    })
    w.hook = request => (request.event === 'session.measure' ? { v: 1, effects: [{ effect: 'run_command', id: 'r1', command: 'compact', args: 'notesoup-reset 7' }] } : { v: 1 })
    await $.session.measure(MEASURE)
    expect(ran).toEqual([['compact', 'notesoup-reset 7']])
    expect(w.hooks.at(-1)?.e).toEqual({ id: 'r1', effect: 'run_command', ok: true })
  })

  test('a prompt is submitted after its delay, and the hook does not wait for it', async ($, on) => {
    const w = world(on)
    w.plan = () => planFor('session.measure')
    const prompts: string[] = []
    on('prompt.submit', ($, e) => {
      prompts.push(e.text)
      return { text: e.text }
    })
    w.hook = request => (request.event === 'session.measure' ? { v: 1, effects: [{ effect: 'submit_prompt', id: 'p1', text: 'save now', delay_ms: 50 }] } : { v: 1 })
    await $.session.measure(MEASURE)
    expect(prompts).toEqual([])
    await w.clock.advance(50)
    expect(prompts).toEqual(['save now'])
    await w.clock.settle()
    expect(w.hooks.at(-1)?.e).toEqual({ id: 'p1', effect: 'submit_prompt', ok: true })
  })

  test('a prompt that is dropped says so', async ($, on) => {
    const w = world(on)
    w.plan = () => planFor('session.measure')
    on('prompt.submit', () => ({ drop: 'not now' }))
    w.hook = request => (request.event === 'session.measure' ? { v: 1, effects: [{ effect: 'submit_prompt', id: 'p1', text: 'save now', delay_ms: 1 }] } : { v: 1 })
    await $.session.measure(MEASURE)
    await w.clock.advance(1)
    await w.clock.settle()
    expect(w.hooks.at(-1)?.e).toEqual({ id: 'p1', effect: 'submit_prompt', ok: false, skip: 'not now' })
  })

  test('the line under the prompt is set, and taken away', async ($, on) => {
    const w = world(on)
    w.plan = () => planFor('session.measure')
    const texts = ['window :0', undefined]
    w.hook = () => ({ v: 1, effects: [{ effect: 'status', text: texts[w.statuses.length] }] })
    await $.session.measure(MEASURE)
    await $.session.measure(MEASURE)
    expect(w.statuses).toEqual(texts)
  })

  test('a new plan is asked for before the next event', async ($, on) => {
    const w = world(on)
    w.plan = () => planFor('session.measure')
    w.hook = () => ({ v: 1, effects: [{ effect: 'refresh_plan' }] })
    await $.session.measure(MEASURE)
    expect(w.plans.length).toBe(1)
    await $.session.measure(MEASURE)
    expect(w.plans.map(request => request.e)).toEqual([{}, { fingerprint: 'one' }])
  })

  test('do not follow from one another without end', async ($, on) => {
    const w = world(on)
    w.plan = () => planFor('session.measure')
    on('command.run', () => ({}))
    w.hook = () => ({ v: 1, effects: [{ effect: 'run_command', id: 'r', command: 'compact', args: '' }] })
    await $.session.measure(MEASURE)
    expect(w.hooks.length).toBe(6)
  })

  test('run beside an answer', async ($, on) => {
    const w = world(on)
    w.plan = () => planFor('classic.Stop')
    on('classic.Stop', () => ({}))
    w.hook = () => ({ v: 1, answer: { kind: 'context', texts: ['close out'] }, effects: [{ effect: 'log', text: 'the window closes' }] })
    expect((await $.classic.Stop({ stop_hook_active: false, ...classic() })).additionalContext).toEqual(['close out'])
    expect(w.lines).toEqual(['the window closes'])
  })
})

/** A program that resets at the end of a turn. */
function answerReset(request: Request): Record<string, unknown> {
  if (request.event === 'turn.complete') {
    return { v: 1, state: { inFlight: 'c1' }, effects: [{ effect: 'log', text: 'before' }, { effect: 'compact', id: 'c1' }, { effect: 'log', text: 'after' }] }
  }
  if (request.event === 'session.compact') {
    return { v: 1, state: { ...request.state, stands: true }, answer: { kind: 'messages', messages: [{ role: 'user', text: 'a fresh window' }] } }
  }
  return { v: 1, state: { done: true }, effects: [{ effect: 'log', text: 'settled' }] }
}
