// What this module keeps in `$.state`: one value, so that a reload of the module forgets nothing. Nothing here
// touches `$`; every change is a pure function from one record to the next.

import type { EventPlan, Plan, Reply, Watch } from './wire'
import { NO_WATCH } from './wire'

/** What the client's settings hold for us, as of the last plan. */
export type SettingsFacts = {
  merged: Record<string, unknown>
  options: Record<string, unknown>
  plugin_configs: Record<string, unknown>
  project_env: string[]
}

/** The turns of the main loop. */
export type TurnFacts = { running: boolean; id: string | null; completed: number }

/** What outlives a `/clear`: it belongs to the process. */
export type ProcessRecord = {
  /** Tools and commands can be registered (`session.start` has come). */
  isBound: boolean
  /** Nobody sees a screen; null until `session.start` has said. */
  isHeadless: boolean | null
  /** A digest of the tools and commands that were registered last, to see whether they changed. */
  registered: string
  /** The names that are ours: commands without the slash, tools as the model calls them. */
  commands: string[]
  tools: string[]
  /** Names of ours that were refused. */
  taken: string[]
}

/** What belongs to one session. */
export type SessionRecord = {
  id: string
  transcriptPath: string | null
  turn: TurnFacts
  /** The program's argv[0], once one has answered. */
  program: string | null
  fingerprint: string | null
  /** The model that the plan was made for. */
  model: string | null
  isPlanStale: boolean
  events: Record<string, EventPlan>
  watch: Watch
  settings: SettingsFacts
  /** The parts of the usage breakdown that say where auto-compaction fires, and what they were asked for. */
  breakdown: Record<string, unknown> | null
  breakdownKey: string
  /** The program's own state; opaque here. `serial` counts its writes. */
  helper: unknown
  serial: number
  /** Failed runs of the program in a row, and why the last one failed. */
  failures: number
  trouble: string | null
  /** The subagent whose own conversation is being compacted; older builds do not name it when that stands. */
  compactingAgent: string | null
  /** Lines that were shown and are not to be shown again. */
  said: string[]
}

/** The one value in `$.state`. */
export type Stored = { process: ProcessRecord; session: SessionRecord | null }

/** The value in `$.state`, whose public contract says nothing of what is in it. */
export function storedOf(value: object | undefined): Stored | undefined {
  return value as Stored | undefined
}

/** After so many failures in a row the program is left alone until the next prompt. */
export const BREAKER_LIMIT = 3

const SAID_LIMIT = 64

/** A session of which nothing is known yet. */
export function freshSession(id: string): SessionRecord {
  return {
    id,
    transcriptPath: null,
    turn: { running: false, id: null, completed: 0 },
    program: null,
    fingerprint: null,
    model: null,
    isPlanStale: false,
    events: {},
    watch: NO_WATCH,
    settings: { merged: {}, options: {}, plugin_configs: {}, project_env: [] },
    breakdown: null,
    breakdownKey: '',
    helper: null,
    serial: 0,
    failures: 0,
    trouble: null,
    compactingAgent: null,
    said: [],
  }
}

/** What stands, with this session in it. Another session's record is dropped: one conversation runs at a time. */
export function withSession(stored: Stored | undefined, id: string): { process: ProcessRecord; session: SessionRecord } {
  const process = stored?.process ?? { isBound: false, isHeadless: null, registered: '', commands: [], tools: [], taken: [] }
  const session = stored?.session?.id === id ? stored.session : freshSession(id)
  return { process, session }
}

/** A main turn begins. */
export function turnStarted(session: SessionRecord, turnId: string): SessionRecord {
  return { ...session, turn: { ...session.turn, running: true, id: turnId } }
}

/** The person wrote something: a program that was left alone gets one more try, and no more, since each may cost seconds. */
export function prompted(session: SessionRecord): SessionRecord {
  return session.failures < BREAKER_LIMIT ? session : { ...session, failures: BREAKER_LIMIT - 1 }
}

/** A main turn ended. The next one may have started already, so only its own id is cleared. */
export function turnEnded(session: SessionRecord, turnId: string, isAborted: boolean): SessionRecord {
  const isOwn = session.turn.id === turnId || session.turn.id === null
  const completed = session.turn.completed + (isAborted ? 0 : 1)
  return { ...session, turn: isOwn ? { running: false, id: null, completed } : { ...session.turn, completed } }
}

/** A plan arrived. A reset that is pending stays so: the plan is made without a look at the program's state. */
export function planned(session: SessionRecord, plan: Plan, model: string | null): SessionRecord {
  const kept = { ...session, model, isPlanStale: false, failures: 0, trouble: null }
  if (plan.unchanged) return kept
  const watch = { ...plan.watch, pending: plan.watch.pending || session.watch.pending }
  return { ...kept, fingerprint: plan.fingerprint, events: plan.events, watch }
}

/** A run of the program failed. One that is not there is left alone at once. */
export function failed(session: SessionRecord, line: string, isMissing: boolean): SessionRecord {
  const failures = isMissing ? BREAKER_LIMIT : session.failures + 1
  return { ...session, failures, trouble: line, program: isMissing ? null : session.program }
}

/** A run of the program answered: its state and marks, where it gave new ones. */
export function answered(session: SessionRecord, program: string, reply: Reply): SessionRecord {
  return {
    ...session,
    program,
    failures: 0,
    trouble: null,
    helper: reply.state === undefined ? session.helper : reply.state,
    watch: reply.watch ?? session.watch,
    serial: session.serial + (changesState(reply) ? 1 : 0),
  }
}

/** Whether a reply must not be kept when another one was kept in between. */
export function changesState(reply: Reply): boolean {
  return reply.state !== undefined || reply.watch !== undefined
}

/** A line was shown. */
export function withSaid(session: SessionRecord, line: string): SessionRecord {
  return session.said.includes(line) ? session : { ...session, said: [...session.said, line].slice(-SAID_LIMIT) }
}

/** A short text that differs when the long one does (FNV-1a, with the length). */
export function digest(text: string): string {
  let hash = 0x811c9dc5
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193)
  return `${text.length}-${(hash >>> 0).toString(16)}`
}
