// The courier: it carries what Claude Code says down to the notesoup program and what the program answers back up. It
// decides nothing. Every hook lets the session go on when the program is missing, slow or wrong.
//
// `$` is only ever spelled `$.noun.method(...)`, and passed on only to functions of this file: the client reads the
// source before it loads it. What needs no `$` is in the files beside this one.

import type { EngineInterface, PluginOptions, Register } from 'claude-code'
import { NEWEST_ROWS, envNames, idsAtTheEnd, pickBreakdown, pickMerged, pickOlderPlugin } from './facts'
import { rebuild } from './rebuild'
import type { ProcessRecord, SessionRecord, SettingsFacts, Stored } from './record'
import { BREAKER_LIMIT, answered, changesState, digest, failed, planned, prompted, storedOf, turnEnded, turnStarted, withSaid, withSession } from './record'
import type { Answer, Effect, Outcome, Parsed, Plan, PlannedCommand, PlannedTool, Reply } from './wire'
import { WIRE_VERSION, firstLine, parseOutput, planOf, replyOf, wakes } from './wire'

/** The one value that is kept: it survives a reload of this module, which module variables do not. */
const STATE = { plugin: 'notesoup', key: 'session' } as const

const TIMEOUT_MS = 5_000
const COMPACT_TIMEOUT_MS = 20_000
/** All `session.end` hooks share 1.5 s. */
const END_TIMEOUT_MS = 1_000
/** How often a run is repeated since another one changed the state meanwhile. */
const ATTEMPTS = 3
/** How often a write is repeated since another one came first. */
const WRITES = 20
/** The events at which the program looks up where the conversation ends on disk, and the tools for which it does. */
const LOOKING_UP = ['classic.SessionStart', 'classic.UserPromptSubmit', 'classic.PostToolBatch', 'classic.Stop', 'turn.complete', 'session.measure', 'command.run']
const LOOKING_UP_TOOLS = /^mcp__notesoup__(history_|fresh_window$)/
/** How often, and how far apart, a prompt is submitted again while a hook holds the turn: ten seconds, as long as one may. */
const SUBMISSIONS = 100
const SUBMIT_AGAIN_MS = 100
/** When a compaction stands and the screen is drawn anew; a line said before would scroll away with the old one. */
const REDRAWN_MS = 500
/** How many effects may follow from effects. */
const DEPTH_LIMIT = 5
const INTERRUPTED = 'interrupted'
const BROKEN = 'notesoup failed at it'
/** What the arguments of a reset by command begin with. */
const RESET_WORD = 'notesoup-reset '
/** What `/compact` is told when a cut is wanted, with or without a number. */
const CUT = /^\s*prune(\s+preview)?(\s+\d+k?)?\s*$/i
const REFUSED_BIN = 'NOTESOUP_BIN of this project’s settings is not used: a repository must not choose the program; set it in your own settings'
const REFUSED_PATH = 'this project’s settings set PATH, so the program is not looked for there: a repository must not choose it; name it by NOTESOUP_BIN in your own settings'
const NOT_FOUND = 'the program `notesoup` is not there: build it with `cargo install --path .` in its repository and run `notesoup install`, or name it by NOTESOUP_BIN (see the plugin’s README)'

/**
 * The newest value that this module wrote. Within one dispatch `$.state.get` answers what stood when the dispatch began,
 * also after a dispatch nested in it has written, so a write that lost would lose again for ever without this. A cache
 * and nothing more: what a reload takes away, `$.state` still has.
 */
let newest: { stored: Stored; version: number } | null = null

/** One event on its way to the program. */
type Call = {
  options: PluginOptions
  event: string
  e: unknown
  sessionId?: string
  agentId?: string
  toolUseId?: string
  isLookingUp?: boolean
  origin?: string
  signal?: AbortSignal
  depth: number
}

/** What became of it: an answer, nothing, why there is none, or that the person pressed Escape meanwhile. */
type Told = { answer?: Answer; trouble?: string; isAborted?: true }

/** A run of the program: what it printed, or one line that says why there is nothing. */
type Run = Parsed<Record<string, unknown>> & { program?: string; isMissing?: boolean }

export const register: Register = (on, options) => {
  on('session.start', async ($, e, next) => {
    await changeProcess($, process => ({ ...process, isBound: true, isHeadless: !e.isInteractive }))
    const id = await $.session.id()
    await ensurePlan($, options, id, 'whole')
    await ask($, { options, event: 'session.start', e, sessionId: id, origin: originOf(next.origin), signal: next.signal, depth: 0 })
    return next(e)
  }).catch(($, e, next) => next(e))

  on('session.end', async ($, e, next) => {
    await ask($, { options, event: 'session.end', e, sessionId: e.sessionId, origin: originOf(next.origin), signal: next.signal, depth: 0 })
    await forget($, e.sessionId)
    return next(e)
  }).catch(($, e, next) => next(e))

  on('classic.SessionStart', async ($, e, next) => {
    const result = await next(e)
    // `/clear` takes the record of the process with it, and no `session.start` follows: the names must be added again.
    if (e.source === 'clear') await changeProcess($, process => (process.isBound ? process : { ...process, isBound: true }))
    await bind($, e)
    // A new session has no plan yet; one that is resumed may have one from before.
    if (e.source === 'resume') await change($, e.session_id, session => ({ ...session, isPlanStale: true }))
    const agentId = e.agent_id ?? (e.source === 'compact' ? await compactedAgent($, e.session_id) : undefined)
    if (result.preventContinuation === true) return result
    const told = await ask($, { options, event: 'classic.SessionStart', e, sessionId: e.session_id, agentId, origin: originOf(next.origin), signal: next.signal, depth: 0 })
    return told.answer?.kind === 'context' ? { ...result, additionalContext: [...(result.additionalContext ?? []), ...told.answer.texts] } : result
  }).catch(($, e, next) => next(e))

  on('classic.UserPromptSubmit', async ($, e, next) => {
    const result = await next(e)
    await bind($, e)
    await change($, e.session_id, prompted)
    if (result.block !== undefined || result.preventContinuation === true) return result
    const told = await ask($, { options, event: 'classic.UserPromptSubmit', e, sessionId: e.session_id, agentId: e.agent_id, origin: originOf(next.origin), signal: next.signal, depth: 0 })
    return told.answer?.kind === 'context' ? { ...result, additionalContext: [...(result.additionalContext ?? []), ...told.answer.texts] } : result
  }).catch(($, e, next) => next(e))

  on('classic.PostToolBatch', async ($, e, next) => {
    const result = await next(e)
    await bind($, e)
    if (result.preventContinuation === true) return result
    const told = await ask($, { options, event: 'classic.PostToolBatch', e, sessionId: e.session_id, agentId: e.agent_id, origin: originOf(next.origin), signal: next.signal, depth: 0 })
    return told.answer?.kind === 'context' ? { ...result, additionalContext: [...(result.additionalContext ?? []), ...told.answer.texts] } : result
  }).catch(($, e, next) => next(e))

  on('classic.Stop', async ($, e, next) => {
    const result = await next(e)
    await bind($, e)
    if (result.block !== undefined || result.preventContinuation === true) return result
    const told = await ask($, { options, event: 'classic.Stop', e, sessionId: e.session_id, agentId: e.agent_id, origin: originOf(next.origin), signal: next.signal, depth: 0 })
    return told.answer?.kind === 'context' ? { ...result, additionalContext: [...(result.additionalContext ?? []), ...told.answer.texts] } : result
  }).catch(($, e, next) => next(e))

  on('turn.start', async ($, e, next) => {
    const id = await $.session.id()
    const agentId = agentOf(e)
    if (agentId === undefined) {
      await change($, id, session => prompted(turnStarted(session, e.turnId)))
      try {
        await ensurePlan($, options, id, 'again', next.signal)
      } catch (error) {
        if (!isAbort(error, next.signal)) throw error
      }
    }
    await ask($, { options, event: 'turn.start', e, sessionId: id, agentId, origin: originOf(next.origin), signal: next.signal, depth: 0 })
    return next(e)
  }).catch(($, e, next) => next(e))

  on('turn.complete', async ($, e, next) => {
    const result = await next(e)
    const id = await $.session.id()
    if (e.agentId === undefined) await change($, id, session => turnEnded(session, e.turnId, e.isAborted))
    await ask($, { options, event: 'turn.complete', e, sessionId: id, agentId: e.agentId, origin: originOf(next.origin), signal: next.signal, depth: 0 })
    return result
  }).catch(($, e, next) => next(e))

  on('session.measure', async ($, e, next) => {
    const result = await next(e)
    await ask($, { options, event: 'session.measure', e, origin: originOf(next.origin), signal: next.signal, depth: 0 })
    return result
  }).catch(($, e, next) => next(e))

  on('prompt.context', async ($, e, next) => {
    const result = await next(e)
    const told = await ask($, { options, event: 'prompt.context', e, origin: originOf(next.origin), signal: next.signal, depth: 0 })
    return told.answer?.kind === 'blocks' ? { ...result, blocks: [...result.blocks, ...told.answer.blocks] } : result
  }).catch(($, e, next) => next(e))

  on('session.compact', async ($, e, next) => {
    const { answer, isAborted, trouble } = await ask($, { options, event: 'session.compact', e, agentId: e.agentId, origin: originOf(next.origin), signal: next.signal, depth: 0 })
    // To go on would hand the conversation to the summary that the person stopped.
    if (isAborted === true || next.signal.aborted) return { skip: INTERRUPTED }
    const isNoSummary = wantsNoSummary(e, next.origin.plugin === $.plugin.name)
    if (trouble !== undefined && isNoSummary) return { skip: trouble }
    if (answer?.kind === 'skip') return { skip: answer.reason }
    if (answer?.kind === 'next' && answer.instructions !== undefined) return next({ ...e, instructions: answer.instructions })
    if (answer?.kind !== 'messages') return e.agentId === undefined ? next(e) : compactAgent($, e.agentId, () => next(e))
    const rebuilt = rebuild(e.messages, answer)
    if (rebuilt.line === undefined) return rebuilt.value
    if (isNoSummary) return { skip: rebuilt.line }
    $.ui.log(`${rebuilt.line}. The compaction goes on without it.`)
    return next(e)
  }).catch(async ($, e, next) => {
    if (next.signal.aborted) return { skip: INTERRUPTED }
    return wantsNoSummary(e, next.origin.plugin === $.plugin.name) ? { skip: BROKEN } : next(e)
  })

  on('command.run', { command: ['fresh-window', 'prune-preview', 'notesoup'] }, async ($, e, next) => {
    const id = await $.session.id()
    const { process } = await load($, id)
    // The person, or another plugin, may have a command of that name.
    if (!process.commands.includes(e.command)) return next(e)
    await change($, id, prompted)
    const told = await ask($, { options, event: 'command.run', e, sessionId: id, origin: originOf(next.origin), signal: next.signal, depth: 0 })
    if (told.answer?.kind === 'lines') return show($, told.answer.lines)
    if (told.trouble !== undefined) return show($, [`/${e.command} cannot run: ${told.trouble}`])
    return next(e)
  }).catch(($, e, next) => next(e))

  on('tool.call', { tool: /^mcp__notesoup__/ }, async ($, e, next) => {
    const { process } = await load($, await $.session.id())
    // An MCP server may have our name, and then its tools look like ours.
    if (!process.tools.includes(e.tool)) return next(e)
    const isLookingUp = LOOKING_UP_TOOLS.test(e.tool)
    const told = await ask($, { options, event: 'tool.call', e, agentId: e.agentId, toolUseId: e.tool_use_id, isLookingUp, origin: originOf(next.origin), signal: next.signal, depth: 0 })
    if (told.answer?.kind === 'tool') return told.answer.is_error ? { deny: told.answer.text } : { result: told.answer.text }
    if (told.trouble !== undefined) return { deny: `notesoup cannot answer: ${told.trouble}` }
    return next(e)
  }).catch(($, e, next) => next(e))
}

/**
 * Whether a compaction is the reset that this plugin has asked for, or the cut that the person has. One that cannot be
 * answered leaves the window as it is: a summary in its place is not what was asked for.
 */
function wantsNoSummary(e: { readonly trigger: string; readonly instructions?: string }, isFromUs: boolean): boolean {
  const instructions = e.instructions ?? ''
  return isFromUs || (e.trigger === 'manual' && (instructions.startsWith(RESET_WORD) || CUT.test(instructions)))
}

/** The subagent whose turn begins; older builds raise that event for the main loop alone and do not declare the field. */
function agentOf(e: object): string | undefined {
  const id = (e as Record<string, unknown>).agentId
  return typeof id === 'string' ? id : undefined
}

/** The plugin that caused an event; the client's own doing has none. */
function originOf(origin: { readonly plugin: string; readonly tier: string }): string | undefined {
  return origin.tier === 'core' ? undefined : origin.plugin
}

/** Sends an event to the program; Escape meanwhile, which rejects every call on `$`, is no fault of anybody. */
async function ask($: EngineInterface, call: Call): Promise<Told> {
  try {
    return await tell($, call)
  } catch (error) {
    if (isAbort(error, call.signal)) return { isAborted: true }
    throw error
  }
}

/** Whether a call on `$` was rejected since the person pressed Escape. */
function isAbort(error: unknown, signal: AbortSignal | undefined): boolean {
  return signal?.aborted === true || /\baborted$/.test(messageOf(error))
}

/** Sends an event to the program when the plan says so, keeps its state, carries out its effects. */
async function tell($: EngineInterface, call: Call): Promise<Told> {
  const id = call.sessionId ?? (await $.session.id())
  let session = await plannedFor($, call, id)
  if (session.failures >= BREAKER_LIMIT || !(await isWoken($, session, call))) return troubleOf(session)
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const facts = await factsOf($, session, call)
    const request = { v: WIRE_VERSION, event: call.event, e: call.e, facts, state: session.helper }
    const run = await runProgram($, session, 'hook', request, timeoutOf(session, call.event), call.signal)
    if (run.value === undefined) {
      await recordFailure($, id, run, call.signal)
      return { trouble: run.line }
    }
    const reply = replyOf(run.value)
    const kept = await keep($, id, session.serial, run.program ?? '', reply)
    if (kept === 'gone') return {}
    if (kept === 'conflict') {
      session = (await load($, id)).session
      continue
    }
    await carryOut($, { ...call, sessionId: id }, reply.effects)
    return { answer: reply.answer }
  }
  return {}
}

/** The session with the plan that this event goes by. The end of a session has no time to ask for one. */
async function plannedFor($: EngineInterface, call: Call, id: string): Promise<SessionRecord> {
  if (call.event === 'session.end') return (await load($, id)).session
  return ensurePlan($, call.options, id, call.event === 'prompt.context' ? 'bare' : 'lazy', call.signal)
}

/** Whether the event starts the program. Events that watch no mark cost no look at the usage. */
async function isWoken($: EngineInterface, session: SessionRecord, call: Call): Promise<boolean> {
  if (call.event === 'effect.settled') return true
  const planned = session.events[call.event]
  if (planned === undefined) return false
  return planned.wake.includes('always') || wakes(planned, session.watch, (await $.session.usage()).context, call.agentId)
}

/** Why the program cannot be asked, where it cannot. */
function troubleOf(session: SessionRecord): Told {
  return session.failures > 0 && session.trouble !== null ? { trouble: session.trouble } : {}
}

function timeoutOf(session: SessionRecord, event: string): number {
  const planned = session.events[event]?.timeout_ms
  const usual = event === 'session.compact' ? COMPACT_TIMEOUT_MS : TIMEOUT_MS
  const timeout = typeof planned === 'number' && planned > 0 ? planned : usual
  return event === 'session.end' ? Math.min(timeout, END_TIMEOUT_MS) : timeout
}

/** Carries out what the program wants done, in order; nothing that fails stops what follows. */
async function carryOut($: EngineInterface, call: Call, effects: readonly Effect[]): Promise<void> {
  for (const effect of effects) {
    if (effect.effect === 'log' && call.event === 'session.compact') $.clock.after(REDRAWN_MS, () => $.ui.log(effect.text))
    else if (effect.effect === 'log') $.ui.log(effect.text)
    else if (effect.effect === 'status') $.ui.status(effect.text)
    else if (effect.effect === 'refresh_plan') await change($, call.sessionId ?? '', session => ({ ...session, isPlanStale: true }))
    else if (effect.effect === 'compact') await settle($, call, await compactNow($, effect.id))
    else if (effect.effect === 'run_command') await settle($, call, await runCommand($, effect.id, effect.command, effect.args))
    // Not awaited: the hook may hold the turn that the prompt waits for.
    else if (effect.effect === 'submit_prompt') $.clock.after(effect.delay_ms, () => void submitPrompt($, call, effect.id, effect.text))
  }
}

/** Tells the program how an effect ended. */
async function settle($: EngineInterface, call: Call, outcome: Outcome): Promise<void> {
  if (call.depth >= DEPTH_LIMIT) return
  await ask($, { ...call, event: 'effect.settled', e: outcome, toolUseId: undefined, depth: call.depth + 1 })
}

async function compactNow($: EngineInterface, id: string): Promise<Outcome> {
  try {
    const result = await $.session.compact()
    // Our own hook answered so, since the person pressed Escape.
    if (result.skip === INTERRUPTED) return { id, effect: 'compact', ok: false, error: 'aborted' }
    return result.skip === undefined ? { id, effect: 'compact', ok: true } : { id, effect: 'compact', ok: false, skip: result.skip }
  } catch (error) {
    return { id, effect: 'compact', ok: false, error: messageOf(error) }
  }
}

async function runCommand($: EngineInterface, id: string, command: string, args: string): Promise<Outcome> {
  try {
    await $.command.run({ command, args })
    return { id, effect: 'run_command', ok: true }
  } catch (error) {
    return { id, effect: 'run_command', ok: false, error: messageOf(error) }
  }
}

/** Submits a prompt; while the hook that decided it still holds its turn, the client refuses, and it is tried again. */
async function submitPrompt($: EngineInterface, call: Call, id: string, text: string, attempt = 0): Promise<void> {
  let outcome: Outcome
  try {
    const result = await $.prompt.submit({ text })
    outcome = result.drop === undefined ? { id, effect: 'submit_prompt', ok: true } : { id, effect: 'submit_prompt', ok: false, skip: result.drop }
  } catch (error) {
    const message = messageOf(error)
    if (message.includes('hook is holding') && attempt < SUBMISSIONS) {
      $.clock.after(SUBMIT_AGAIN_MS, () => void submitPrompt($, call, id, text, attempt + 1))
      return
    }
    outcome = { id, effect: 'submit_prompt', ok: false, error: message }
  }
  await settle($, { ...call, signal: undefined }, outcome)
}

/** Shows a command's output to the person and nothing to the model. */
async function show($: EngineInterface, lines: readonly string[]): Promise<{ text?: string; isTextDisplayOnly?: true }> {
  const { process } = await load($, await $.session.id())
  // Where nobody sees a screen, `$.ui.log` is not printed, but a command's text is.
  if (await isHeadless($, process)) return { text: lines.join('\n'), isTextDisplayOnly: true }
  for (const line of lines) $.ui.log(line)
  return {}
}

/**
 * The session with a plan that fits it. `lazy`: a new one where there is none or the model changed; `again`: asked for
 * in any case, by the fingerprint of the one that is there; `whole`: with all that is to be registered; `bare`: as lazy,
 * but without a look at the usage breakdown, which waits for `prompt.context` and so would wait for ever inside it.
 */
async function ensurePlan($: EngineInterface, options: PluginOptions, id: string, need: 'bare' | 'lazy' | 'again' | 'whole', signal?: AbortSignal): Promise<SessionRecord> {
  let { session } = await load($, id)
  const model = await $.session.model()
  const isDue = need === 'again' || need === 'whole' || session.fingerprint === null || session.isPlanStale || session.model !== model
  if (!isDue || session.failures >= BREAKER_LIMIT) return session
  session = await gather($, options, session, model, need !== 'bare')
  const facts = await factsOf($, session, {})
  const e = need === 'whole' || session.fingerprint === null ? {} : { fingerprint: session.fingerprint }
  const run = await runProgram($, session, 'plan', { v: WIRE_VERSION, event: 'plan', e, facts, state: session.helper }, TIMEOUT_MS, signal)
  if (run.value === undefined) return recordFailure($, id, run, signal)
  const plan = planOf(run.value)
  session = await change($, id, current => ({ ...planned(current, plan, model), program: run.program ?? null }))
  if (plan.unchanged) return session
  await registerNames($, id, plan, need === 'whole')
  for (const notice of plan.notices) await say($, id, notice)
  return session
}

/** Reads the settings and, where anything that moves it changed, the point where auto-compaction fires. */
async function gather($: EngineInterface, options: PluginOptions, session: SessionRecord, model: string, isBreakdownWanted: boolean): Promise<SessionRecord> {
  const [merged, user, project, local, flag, policy, window, percent, isAutoOff, isOff, output, bin] = await Promise.all([
    $.settings.read(),
    $.settings.read({ source: 'user' }),
    $.settings.read({ source: 'project' }),
    $.settings.read({ source: 'local' }),
    $.settings.read({ source: 'flag' }),
    $.settings.read({ source: 'policy' }),
    $.env.get('CLAUDE_CODE_AUTO_COMPACT_WINDOW'),
    $.env.get('CLAUDE_AUTOCOMPACT_PCT_OVERRIDE'),
    $.env.get('DISABLE_AUTO_COMPACT'),
    $.env.get('DISABLE_COMPACT'),
    $.env.get('CLAUDE_CODE_MAX_OUTPUT_TOKENS'),
    $.env.get('NOTESOUP_BIN'),
  ])
  const older = { user: pickOlderPlugin(user), flag: pickOlderPlugin(flag), policy: pickOlderPlugin(policy) }
  const settings: SettingsFacts = {
    merged: pickMerged(merged),
    options: { ...options },
    plugin_configs: Object.fromEntries(Object.entries(older).filter(([, entries]) => entries !== null)),
    project_env: envNames(project, local),
  }
  if (bin && settings.project_env.includes('NOTESOUP_BIN')) await say($, session.id, REFUSED_BIN)
  const breakdownKey = JSON.stringify([model, settings.merged, window, percent, isAutoOff, isOff, output])
  if (!isBreakdownWanted || (session.breakdown !== null && session.breakdownKey === breakdownKey)) return change($, session.id, current => ({ ...current, settings }))
  // The one call here that costs more than a millisecond: it estimates every category.
  const breakdown = pickBreakdown((await $.session.usage({ breakdown: 'summary' })).context.breakdown)
  return change($, session.id, current => ({ ...current, settings, breakdown, breakdownKey }))
}

/** What the program is told of the session beside the event. */
async function factsOf($: EngineInterface, session: SessionRecord, call: Partial<Call>): Promise<Record<string, unknown>> {
  const isLookingUp = call.isLookingUp ?? (call.agentId === undefined && LOOKING_UP.includes(call.event ?? ''))
  const [{ process }, cwd, model, version, usage, newestRows] = await Promise.all([
    load($, session.id),
    $.session.cwd(),
    $.session.model(),
    $.session.version(),
    $.session.usage(),
    isLookingUp ? rowsAtTheEnd($) : [],
  ])
  return {
    session_id: session.id,
    cwd,
    model,
    transcript_path: session.transcriptPath,
    client_version: version.version,
    plugin_root: $.plugin.root,
    headless: await isHeadless($, process),
    agent_id: call.agentId ?? null,
    origin_plugin: call.origin ?? null,
    tool_use_id: call.toolUseId ?? null,
    newest_rows: newestRows,
    usage: { ...usage.context, breakdown: session.breakdown },
    turn: session.turn,
    settings: session.settings,
    taken_names: process.taken,
  }
}

/**
 * The newest rows of the conversation, oldest first: the last of them that is on disk is where it ends there. The file's
 * own last row may be of another branch: of one that was left, or of another process on the same conversation. None when
 * the client does not say.
 */
async function rowsAtTheEnd($: EngineInterface): Promise<string[]> {
  try {
    return idsAtTheEnd(await $.session.messages({ last: NEWEST_ROWS } as never))
  } catch {
    return allRowsAtTheEnd($)
  }
}

/** The same of builds that do not know `last` and refuse it: they give all. */
async function allRowsAtTheEnd($: EngineInterface): Promise<string[]> {
  try {
    return idsAtTheEnd(await $.session.messages())
  } catch {
    return []
  }
}

/** Whether nobody sees a screen. `session.start` says so; before it, a session that draws nowhere counts. */
async function isHeadless($: EngineInterface, process: ProcessRecord): Promise<boolean> {
  return process.isHeadless ?? (await $.session.surfaces()).length === 0
}

/** Runs the program with a request on its standard input. */
async function runProgram($: EngineInterface, session: SessionRecord, subcommand: 'hook' | 'plan', request: unknown, timeoutMs: number, signal: AbortSignal | undefined): Promise<Run> {
  const stdin = JSON.stringify(request)
  const named = session.settings.project_env.includes('NOTESOUP_BIN') ? undefined : await $.env.get('NOTESOUP_BIN')
  const candidates = named ? [named] : session.program !== null ? [session.program] : [`${$.plugin.root}/bin/notesoup`, ...(session.settings.project_env.includes('PATH') ? [] : ['notesoup'])]
  for (const program of candidates) {
    try {
      const run = await $.process.run([program, subcommand], { stdin, timeoutMs })
      return { ...parseOutput(run), program }
    } catch (error) {
      if (isAbort(error, signal)) throw error
      const message = messageOf(error)
      if (!message.includes('ENOENT')) return { line: startLine(program, message, timeoutMs), program }
    }
  }
  if (named) return { line: `NOTESOUP_BIN names ${named}, which is not there`, isMissing: true }
  return { line: session.settings.project_env.includes('PATH') ? REFUSED_PATH : NOT_FOUND, isMissing: true }
}

/** Why a program could not be run to its end. */
function startLine(program: string, message: string, timeoutMs: number): string {
  if (message.includes('still running after')) return `the program took longer than ${timeoutMs / 1000} s`
  if (message.includes('EACCES')) return `${program} cannot be started: it is not executable`
  return `${program} cannot be started: ${firstLine(message)}`
}

/** What an error says, without the name of the call that it came from. */
function messageOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error)
  return message.replace(/^notesoup: (\$\.session\.compact: )?/, '')
}

/** Counts a failure and says why, once; after too many in a row the program is left alone until the next prompt. */
async function recordFailure($: EngineInterface, id: string, run: Run, signal: AbortSignal | undefined): Promise<SessionRecord> {
  const line = run.line ?? 'the program gave no reason'
  const session = await change($, id, current => failed(current, line, run.isMissing === true))
  if (signal?.aborted === true) return session
  await say($, id, `${line}. The session goes on without it.`)
  if (session.failures === BREAKER_LIMIT && run.isMissing !== true) await say($, id, `${BREAKER_LIMIT} failures in a row; the program is left alone until your next prompt.`)
  return session
}

/** Keeps a reply's state, unless another reply was kept since the request was made or the session is over. */
async function keep($: EngineInterface, id: string, serial: number, program: string, reply: Reply): Promise<'kept' | 'conflict' | 'gone'> {
  for (let attempt = 0; attempt < WRITES; attempt += 1) {
    const { stored, version } = await read($)
    const session = stored?.session
    if (stored === undefined || session?.id !== id) return 'gone'
    if (changesState(reply) && session.serial !== serial) return 'conflict'
    if (!changesState(reply) && session.failures === 0 && session.program === program) return 'kept'
    if (await write($, { ...stored, session: answered(session, program, reply) }, version)) return 'kept'
  }
  return 'conflict'
}

/** Registers what the plan names, all at once; a name that is refused is survived and said. */
async function registerNames($: EngineInterface, id: string, plan: Plan, isAgain: boolean): Promise<void> {
  const { process } = await load($, id)
  const names = digest(JSON.stringify([plan.commands, plan.tools]))
  // Before `session.start` the client refuses; that event asks for the plan again.
  if (!process.isBound || (!isAgain && process.registered === names)) return
  const [commands, tools] = await Promise.all([
    Promise.all(plan.commands.map(command => registerCommand($, command))),
    Promise.all(plan.tools.map(tool => registerTool($, tool))),
  ])
  const taken = [...commands, ...tools].filter(name => name.line !== null)
  await changeProcess($, current => ({
    ...current,
    registered: names,
    commands: commands.filter(name => name.line === null).map(name => name.name),
    tools: tools.filter(name => name.line === null).map(name => `mcp__notesoup__${name.name}`),
    taken: taken.map(name => name.name),
  }))
  for (const name of taken) await say($, id, name.line ?? '')
}

/** A name that was registered, or the line that says why it was not. */
type Registered = { name: string; line: string | null }

async function registerCommand($: EngineInterface, command: PlannedCommand): Promise<Registered> {
  try {
    const hint = command.argument_hint === undefined ? {} : { argumentHint: command.argument_hint }
    await $.command.register({ name: command.name, description: command.description, ...hint, ...(command.immediate === true ? { immediate: true as const } : {}) })
    return { name: command.name, line: null }
  } catch (error) {
    return { name: command.name, line: `/${command.name} could not be added: ${reasonOf(error)}` }
  }
}

async function registerTool($: EngineInterface, tool: PlannedTool): Promise<Registered> {
  try {
    // Deferred tools wait behind a search, where the model does not see them.
    await $.tool.register({ name: tool.name, description: tool.description, inputSchema: tool.input_schema, isDeferred: false })
    return { name: tool.name, line: null }
  } catch (error) {
    return { name: tool.name, line: `the tool ${tool.name} could not be added: ${reasonOf(error)}` }
  }
}

/** Why a name was refused, without the call that asked for it. */
function reasonOf(error: unknown): string {
  return firstLine(messageOf(error)).replace(/^.* refused: /, '')
}

/** Shows a line to the person, once a session. */
async function say($: EngineInterface, id: string, line: string): Promise<void> {
  let isNew = false
  await change($, id, session => {
    isNew = !session.said.includes(line)
    return withSaid(session, line)
  })
  if (isNew) $.ui.log(line)
}

/** Runs a subagent's own compaction, and remembers whose it is until it stands: older builds do not say so then. */
async function compactAgent<T extends { readonly skip?: string }>($: EngineInterface, agentId: string, run: () => Promise<T>): Promise<T> {
  const id = await $.session.id()
  await change($, id, session => ({ ...session, compactingAgent: agentId }))
  let isOver = true
  try {
    const result = await run()
    isOver = result.skip !== undefined
    return result
  } finally {
    if (isOver) await change($, id, session => ({ ...session, compactingAgent: null }))
  }
}

/** The subagent whose compaction stands now, where it is not the main conversation's. */
async function compactedAgent($: EngineInterface, id: string): Promise<string | undefined> {
  let agentId: string | null = null
  await change($, id, session => {
    agentId = session.compactingAgent
    return agentId === null ? session : { ...session, compactingAgent: null }
  })
  return agentId ?? undefined
}

/** Binds the session's transcript, as every `classic.*` event names it. */
async function bind($: EngineInterface, e: { readonly session_id: string; readonly transcript_path: string; readonly agent_id?: string }): Promise<void> {
  if (e.agent_id !== undefined || e.transcript_path === '') return
  const { session } = await load($, e.session_id)
  if (session.transcriptPath === e.transcript_path) return
  await change($, e.session_id, current => ({ ...current, transcriptPath: e.transcript_path }))
}

/** What is kept, with this session in it. */
async function load($: EngineInterface, id: string): Promise<{ process: ProcessRecord; session: SessionRecord }> {
  return withSession((await read($)).stored, id)
}

/** Changes what is kept of a session, whoever else writes meanwhile. */
async function change($: EngineInterface, id: string, mutate: (session: SessionRecord) => SessionRecord): Promise<SessionRecord> {
  let session: SessionRecord
  let attempt = 0
  do {
    const { stored, version } = await read($)
    const current = withSession(stored, id)
    session = mutate(current.session)
    if (session === stored?.session) return session
    if (await write($, { process: current.process, session }, version)) return session
    attempt += 1
  } while (attempt < WRITES)
  return session
}

/** Changes what is kept of the process. */
async function changeProcess($: EngineInterface, mutate: (process: ProcessRecord) => ProcessRecord): Promise<void> {
  const id = await $.session.id()
  for (let attempt = 0; attempt < WRITES; attempt += 1) {
    const { stored, version } = await read($)
    const current = withSession(stored, id)
    if (await write($, { ...current, process: mutate(current.process) }, version)) return
  }
}

/** Forgets a session that is over; what belongs to the process stays. */
async function forget($: EngineInterface, id: string): Promise<void> {
  for (let attempt = 0; attempt < WRITES; attempt += 1) {
    const { stored, version } = await read($)
    if (stored?.session?.id !== id) return
    if (await write($, { process: stored.process, session: null }, version)) return
  }
}

/** What stands now. */
async function read($: EngineInterface): Promise<{ stored: Stored | undefined; version: number }> {
  const { value, version } = await $.state.get(STATE)
  return newest !== null && newest.version > version ? newest : { stored: storedOf(value), version }
}

/** Writes when nothing was written since that version; false when something was. */
async function write($: EngineInterface, stored: Stored, version: number): Promise<boolean> {
  const written = await $.state.set(STATE, stored, { ifVersion: version })
  if (written.isSet) newest = { stored, version: written.version }
  else if (newest !== null && newest.version !== written.version) newest = null
  return written.isSet
}
