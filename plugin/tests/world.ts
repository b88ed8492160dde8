// What lies beneath the plugin in a test: a session, its settings, and a program that answers as the test says.

import type { On } from 'claude-code'
import type { TestBody, TestOptions } from 'claude-code/testing'
import { mock, test as kitTest } from 'claude-code/testing'

/** A test with time for a busy machine: the kit's five seconds are about its patience, not about the plugin. */
export function test(name: string, ...rest: [body: TestBody] | [options: TestOptions, body: TestBody]): void {
  const [options, body] = rest.length === 1 ? [{}, rest[0]] : rest
  kitTest(name, { timeoutMs: 60_000, ...options }, body)
}

/** One request as the program read it. */
export type Request = {
  v: number
  event: string
  e: Record<string, unknown>
  facts: Record<string, any>
  state: any
}

/** What a run of the program gives: an object is its reply, a string its output, `deny` a run that fails. */
export type Output = Record<string, unknown> | string | { run: Record<string, unknown> } | { fail: string }

/** The world of one test. Fields may be changed as the test goes on. */
export type World = {
  sessionId: string
  model: string
  usage: Record<string, unknown>
  surfaces: string[]
  settings: Record<string, Record<string, unknown>>
  /** Answers a request to `hook`. */
  hook: (request: Request) => Output | Promise<Output>
  /** Answers a request to `plan`. */
  plan: (request: Request) => Output
  refused: string[]
  /** What happened, oldest first. */
  hooks: Request[]
  plans: Request[]
  runs: { argv: readonly string[]; timeoutMs: number | undefined; bytes: number }[]
  lines: string[]
  /** The line under the prompt, each time it was set; undefined took it away. */
  statuses: (string | undefined)[]
  breakdowns: number
  tools: { name: string; isDeferred?: boolean; inputSchema: unknown }[]
  commands: { name: string; argumentHint?: string; immediate?: true }[]
  clock: { advance: (ms: number) => Promise<void>; settle: () => Promise<void> }
}

/** Every time, with five seconds for it. */
export const ALWAYS = { wake: ['always'], timeout_ms: 5000 }

/** A plan that sends these events to the program. */
export function planFor(...events: string[]): Record<string, unknown> {
  return { v: 1, fingerprint: 'one', events: Object.fromEntries(events.map(event => [event, ALWAYS])) }
}

/** Lays a world beneath the plugin. */
export function world(on: On, given: Partial<World> & { env?: Record<string, string> } = {}): World {
  const w: World = {
    sessionId: 's-1',
    model: 'claude-opus-5-5',
    usage: { tokens: 1000, window: 200000, percent: 1 },
    surfaces: ['terminal'],
    settings: {},
    hook: () => ({ v: 1 }),
    plan: () => planFor(),
    refused: [],
    hooks: [],
    plans: [],
    runs: [],
    lines: [],
    statuses: [],
    breakdowns: 0,
    tools: [],
    commands: [],
    clock: mock.clock(on),
    ...given,
  }
  mock.env(on, { NOTESOUP_BIN: '/opt/notesoup', ...given.env })
  on('session.id', () => ({ value: w.sessionId }))
  on('session.cwd', () => ({ value: '/srv/project' }))
  on('session.model', () => ({ value: w.model }))
  on('session.version', () => ({ value: { version: '2.1.332' } }))
  on('session.surfaces', () => ({ value: w.surfaces as never }))
  on('session.usage', ($, e) => {
    if (e.breakdown !== undefined) w.breakdowns += 1
    const breakdown = e.breakdown === undefined ? {} : { breakdown: { rawMaxTokens: 200000, autoCompactThreshold: 167000, isAutoCompactEnabled: true, categories: [] } }
    return { value: { startedAt: 0, rateLimits: [], context: { ...w.usage, ...breakdown } } as never }
  })
  on('settings.read', ($, e) => ({ value: w.settings[(e as { source?: string }).source ?? 'merged'] ?? {} }))
  on('ui.log', ($, e) => {
    w.lines.push(e.text)
    return { value: undefined }
  })
  on('ui.status', ($, e) => {
    w.statuses.push(e.text)
    return { value: undefined }
  })
  on('tool.register', ($, e) => {
    if (w.refused.includes(e.name)) return { deny: `${e.name} is taken` }
    w.tools.push(e)
    return { value: { tool: `mcp__notesoup__${e.name}` } }
  })
  on('command.register', ($, e) => {
    if (w.refused.includes(e.name)) return { deny: `${e.name} is taken` }
    w.commands.push(e)
    return { value: { command: e.name } }
  })
  on('process.run', async ($, e) => {
    const stdin = e.init?.stdin ?? ''
    w.runs.push({ argv: e.argv, timeoutMs: e.init?.timeoutMs, bytes: stdin.length })
    const request = JSON.parse(stdin) as Request
    const isPlan = e.argv[1] === 'plan'
    ;(isPlan ? w.plans : w.hooks).push(request)
    const output = isPlan ? w.plan(request) : await w.hook(request)
    const usual = { exitCode: 0, stdout: '', stderr: '', isStdoutTruncated: false, isStderrTruncated: false }
    if (typeof output === 'string') return { value: { ...usual, stdout: output } }
    if ('fail' in output) return { deny: String(output.fail) }
    if ('run' in output) return { value: { ...usual, ...(output.run as object) } }
    return { value: { ...usual, stdout: JSON.stringify(output) } }
  })
  on('session.start', ($, e) => ({ cwd: e.cwd }))
  on('session.end', ($, e) => ({ sessionId: e.sessionId }))
  on('session.measure', ($, e) => ({ changed: e.changed }))
  on('turn.start', ($, e) => ({ turnId: e.turnId }))
  on('turn.complete', ($, e) => ({ text: e.answer }))
  on('prompt.context', ($, e) => ({ blocks: e.blocks }))
  return w
}

/** The input of `session.start`. */
export const START = { cwd: '/srv/project', surface: 'terminal' as const, isInteractive: true }

/** The input of a main turn's end. */
export function ended(turnId: string, isAborted = false): any {
  return { answer: 'done', durationMs: 5, isAborted, turnId, reason: isAborted ? 'aborted' : 'answer' }
}

/** The input of `session.measure`. */
export const MEASURE: any = { context: { tokens: 1000, window: 200000, percent: 1 }, rateLimits: [], changed: ['context'] }

/** The envelope of a classic event in the test's session. */
export function classic(id = 's-1'): { session_id: string; transcript_path: string } {
  return { session_id: id, transcript_path: `/home/ada/.claude/projects/p/${id}.jsonl` }
}
