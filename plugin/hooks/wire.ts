// The wire between this module and the notesoup program: one JSON request on standard input, one JSON reply on
// standard output. Nothing here touches `$`.

/** The version of the wire that this module speaks. */
export const WIRE_VERSION = 1

/** What makes an event start the program. */
export type Wake = 'always' | 'warn_mark' | 'reset_mark' | 'rewound' | 'pending'

/** How one event is watched. */
export type EventPlan = { wake: Wake[]; timeout_ms: number }

/** The marks that are compared with the context's fill in memory. */
export type Watch = { warn_at: number | null; reset_at: number | null; warned_at: number | null; percent: boolean; pending: boolean }

/** A slash command to register. */
export type PlannedCommand = { name: string; description: string; argument_hint?: string; immediate?: boolean }

/** A tool to register, without the `mcp__notesoup__` in front of its name. */
export type PlannedTool = { name: string; description: string; input_schema: Record<string, unknown> }

/** What to watch, register and show. */
export type Plan = {
  fingerprint: string
  unchanged: boolean
  events: Record<string, EventPlan>
  commands: PlannedCommand[]
  tools: PlannedTool[]
  watch: Watch
  notices: string[]
}

/** A text of the event's own, by the index of its entry, or a new one. */
export type TextSpec = string | { of: number }

/** One message of a rebuilt conversation. */
export type MessageSpec = {
  role: 'user' | 'assistant'
  text?: TextSpec
  tool_uses?: { of: number; at: number; input?: Record<string, unknown> }[]
  tool_results?: { of: number; at: number; text?: string }[]
}

/** What a hook returns, by kind of event. */
export type Answer =
  | { kind: 'next'; instructions?: string }
  | { kind: 'skip'; reason: string }
  | { kind: 'messages'; messages: MessageSpec[]; tokens_before?: number; tokens_after?: number }
  | { kind: 'context'; texts: string[] }
  | { kind: 'blocks'; blocks: { name: string; text: string }[] }
  | { kind: 'lines'; lines: string[] }
  | { kind: 'tool'; text: string; is_error: boolean }

/** What the program wants done, in order, before the hook returns. */
export type Effect =
  | { effect: 'log'; text: string }
  | { effect: 'compact'; id: string }
  | { effect: 'run_command'; id: string; command: string; args: string }
  | { effect: 'submit_prompt'; id: string; text: string; delay_ms: number }
  | { effect: 'status'; text?: string }
  | { effect: 'refresh_plan' }

/** How an effect ended; sent back as the event `effect.settled`. */
export type Outcome = { id: string; effect: string; ok: boolean; error?: string; skip?: string }

/** The reply to one request. */
export type Reply = { answer?: Answer; effects: Effect[]; state?: unknown; watch?: Watch }

/** What came back from a run of the program: something to use, or one line that says why not. */
export type Parsed<T> = { value: T; line?: undefined } | { value?: undefined; line: string }

type Json = Record<string, unknown>

/** Marks that never wake anything. */
export const NO_WATCH: Watch = { warn_at: null, reset_at: null, warned_at: null, percent: false, pending: false }

/** Whether a value is a JSON object. */
export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/**
 * Reads what the program printed: an object with our version of the wire. Everything else becomes one line that says
 * what is wrong and what to do.
 */
export function parseOutput(run: { exitCode: number; stdout: string; stderr: string; isStdoutTruncated: boolean }): Parsed<Json> {
  if (run.isStdoutTruncated) return { line: 'the program answered more than 4 MiB, which Claude Code cuts off' }
  const printed = jsonOf(run.stdout.trim())
  if (isObject(printed) && typeof printed.v === 'number' && printed.v !== WIRE_VERSION) return { line: otherVersion(printed.v) }
  const error = isObject(printed) ? printed.error : undefined
  if (isObject(error)) return { line: `the program refused the request: ${firstLine(String(error.message))}` }
  if (run.exitCode !== 0) return { line: exitLine(run) }
  if (!isObject(printed)) return { line: `the program printed something else than a reply: ${excerpt(run.stdout)}` }
  if (printed.v !== WIRE_VERSION) return { line: 'the program printed a reply without its version' }
  return { value: printed }
}

function exitLine(run: { exitCode: number; stdout: string; stderr: string }): string {
  const said = firstLine(run.stderr) || firstLine(run.stdout)
  return `the program ended with exit code ${run.exitCode}${said === '' ? '' : `: ${said}`}`
}

function otherVersion(theirs: number): string {
  const what = theirs > WIRE_VERSION ? 'the plugin is older than the program: update the plugin (`notesoup install`)' : 'the program is older than the plugin: update the program (`cargo install --path .` in its repository)'
  return `plugin and program do not fit: ${what}; the plugin speaks version ${WIRE_VERSION}, the program ${theirs}`
}

/** The first line of a text, cut to what fits in one line on a screen. */
export function firstLine(text: string): string {
  const line = text.trim().split('\n', 1)[0] ?? ''
  return line.length > 200 ? `${line.slice(0, 200)}…` : line
}

function excerpt(text: string): string {
  const line = firstLine(text)
  return line === '' ? '(nothing)' : line.slice(0, 80)
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** A reply out of a parsed object; fields of an unexpected shape are left out. */
export function replyOf(printed: Json): Reply {
  return {
    answer: isObject(printed.answer) && typeof printed.answer.kind === 'string' ? (printed.answer as Answer) : undefined,
    effects: listOf<Effect>(printed.effects),
    state: printed.state,
    watch: isObject(printed.watch) ? watchOf(printed.watch) : undefined,
  }
}

/** A plan out of a parsed object; fields of an unexpected shape are empty. */
export function planOf(printed: Json): Plan {
  return {
    fingerprint: typeof printed.fingerprint === 'string' ? printed.fingerprint : '',
    unchanged: printed.unchanged === true,
    events: eventsOf(printed.events),
    commands: listOf<PlannedCommand>(printed.commands),
    tools: listOf<PlannedTool>(printed.tools),
    watch: watchOf(isObject(printed.watch) ? printed.watch : {}),
    notices: Array.isArray(printed.notices) ? printed.notices.filter((line): line is string => typeof line === 'string') : [],
  }
}

function eventsOf(value: unknown): Record<string, EventPlan> {
  const entries = Object.entries(isObject(value) ? value : {})
  return Object.fromEntries(entries.filter((entry): entry is [string, EventPlan] => isObject(entry[1]) && Array.isArray(entry[1].wake)))
}

function listOf<T>(value: unknown): T[] {
  return Array.isArray(value) ? (value.filter(isObject) as T[]) : []
}

function watchOf(value: Json): Watch {
  return {
    warn_at: typeof value.warn_at === 'number' ? value.warn_at : null,
    reset_at: typeof value.reset_at === 'number' ? value.reset_at : null,
    warned_at: typeof value.warned_at === 'number' ? value.warned_at : null,
    percent: value.percent === true,
    pending: value.pending === true,
  }
}

/** Whether an event starts the program, given the marks and the fill. A subagent's events know nothing of the marks. */
export function wakes(event: EventPlan, watch: Watch, fill: { tokens?: number; percent?: number }, agentId: string | undefined): boolean {
  const wake = event.wake
  if (wake.includes('always')) return true
  if (agentId !== undefined) return false
  const level = watch.percent ? fill.percent : fill.tokens
  const reached = (mark: number | null) => mark !== null && level !== undefined && level >= mark
  if (wake.includes('rewound') && watch.warned_at !== null && level !== undefined && level < watch.warned_at) return true
  return (wake.includes('pending') && watch.pending) || (wake.includes('warn_mark') && reached(watch.warn_at)) || (wake.includes('reset_mark') && reached(watch.reset_at))
}
