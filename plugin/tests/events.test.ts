import { describe, expect } from 'claude-code/testing'
import { MEASURE, START, classic, ended, planFor, test, world } from './world'

const context = (text: string) => ({ v: 1, answer: { kind: 'context', texts: [text] } })

describe('plan', () => {
  test('whichever event is first fetches the plan', async ($, on) => {
    const w = world(on)
    on('classic.SessionStart', () => ({}))
    await $.classic.SessionStart({ source: 'startup', ...classic() })
    expect(w.plans.length).toBe(1)
    expect(w.plans[0]?.e).toEqual({})
    expect(w.hooks.length).toBe(0)
  })

  test('registers tools and commands at session.start, tools where the model sees them', async ($, on) => {
    const w = world(on)
    w.plan = () => ({
      ...planFor(),
      tools: [{ name: 'notes_list', description: 'Lists notes.', input_schema: { type: 'object', properties: {} } }],
      commands: [{ name: 'fresh-window', description: 'Start fresh', argument_hint: '[cancel]', immediate: true }, { name: 'notesoup', description: 'Look' }],
      notices: ['the margin is ignored'],
    })
    await $.session.start(START)
    expect(w.tools.map(tool => [tool.name, tool.isDeferred])).toEqual([['notes_list', false]])
    expect(w.commands.map(command => [command.name, command.argumentHint, command.immediate])).toEqual([['fresh-window', '[cancel]', true], ['notesoup', undefined, undefined]])
    expect(w.lines).toEqual(['the margin is ignored'])
    await $.session.start(START)
    expect(w.plans.map(request => request.e)).toEqual([{}, {}])
    expect(w.tools.length).toBe(2)
    expect(w.lines.length).toBe(1)
  })

  test('a name that another plugin has is survived, said and told', async ($, on) => {
    const w = world(on, { refused: ['notesoup'] })
    w.plan = () => ({ ...planFor('turn.start'), commands: [{ name: 'notesoup', description: 'Look' }, { name: 'prune-preview', description: 'Cut' }] })
    await $.session.start(START)
    expect(w.commands.map(command => command.name)).toEqual(['prune-preview'])
    expect(w.lines.length).toBe(1)
    expect(w.lines[0]).toContain('/notesoup could not be added')
    await $.turn.start({ text: 'hi', turnId: 't1' })
    expect(w.hooks[0]?.facts.taken_names).toEqual(['notesoup'])
  })

  test('each main turn asks again by the fingerprint; unchanged keeps what was', async ($, on) => {
    const w = world(on)
    w.plan = request => (request.e.fingerprint === 'one' ? { v: 1, fingerprint: 'one', unchanged: true } : planFor('session.measure'))
    await $.session.start(START)
    await $.turn.start({ text: 'hi', turnId: 't1' })
    expect(w.plans.map(request => request.e)).toEqual([{}, { fingerprint: 'one' }])
    await $.session.measure(MEASURE)
    expect(w.hooks.map(request => request.event)).toEqual(['session.measure'])
  })

  test('a model change asks again', async ($, on) => {
    const w = world(on)
    await $.session.start(START)
    await $.session.measure(MEASURE)
    expect(w.plans.length).toBe(1)
    w.model = 'claude-haiku-5'
    await $.session.measure(MEASURE)
    expect(w.plans.length).toBe(2)
    expect(w.plans[1]?.facts.model).toBe('claude-haiku-5')
  })

  test('a resumed session asks again', async ($, on) => {
    const w = world(on)
    on('classic.SessionStart', () => ({}))
    await $.session.start(START)
    await $.classic.SessionStart({ source: 'resume', ...classic() })
    expect(w.plans.length).toBe(2)
  })

  test('events outside the plan start no process', async ($, on) => {
    const w = world(on)
    on('classic.UserPromptSubmit', () => ({}))
    on('classic.PostToolBatch', () => ({}))
    on('classic.Stop', () => ({}))
    await $.session.start(START)
    const before = w.runs.length
    await $.classic.UserPromptSubmit({ prompt: 'hi', ...classic() })
    await $.classic.PostToolBatch({ tool_calls: [], ...classic() })
    await $.classic.Stop({ stop_hook_active: false, ...classic() })
    await $.session.measure(MEASURE)
    await $.turn.complete(ended('t1'))
    expect(w.runs.length).toBe(before)
  })
})

describe('facts', () => {
  test('say what the client knows, settings by source, and only what concerns us', async ($, on) => {
    const w = world(on, {
      settings: {
        merged: { notesoup: { resetMarginTokens: 9000 }, autoCompactEnabled: true, autoCompactWindow: 300000, modelSettings: { m: {} }, apiKeyHelper: 'secret' },
        user: { pluginConfigs: { 'compact-shaper@market': { options: { keepHeadChars: 200 } }, other: { options: { token: 'secret' } } } },
        project: { pluginConfigs: { 'compact-shaper': { options: { keepHeadChars: 1 } } }, env: { NOTESOUP_HOME: '/evil' } },
        local: { env: { NOTESOUP_LOG: 'debug' } },
      },
    })
    on('classic.SessionStart', () => ({}))
    w.plan = () => planFor('classic.Stop')
    on('classic.Stop', () => ({}))
    await $.session.start(START)
    await $.classic.SessionStart({ source: 'startup', ...classic() })
    await $.classic.Stop({ stop_hook_active: false, ...classic() })
    const facts = w.hooks[0]?.facts ?? {}
    expect(facts.session_id).toBe('s-1')
    expect(facts.cwd).toBe('/srv/project')
    expect(facts.model).toBe('claude-opus-5-5')
    expect(facts.client_version).toBe('2.1.332')
    expect(facts.transcript_path).toBe(classic().transcript_path)
    expect(facts.headless).toBe(false)
    expect(facts.origin_plugin).toBe(null)
    expect(facts.usage).toEqual({ tokens: 1000, window: 200000, percent: 1, breakdown: { rawMaxTokens: 200000, autoCompactThreshold: 167000, isAutoCompactEnabled: true } })
    expect(facts.settings.merged).toEqual({ notesoup: { resetMarginTokens: 9000 }, autoCompactEnabled: true, autoCompactWindow: 300000, modelSettings: { m: {} } })
    expect(facts.settings.plugin_configs).toEqual({ user: { 'compact-shaper@market': { options: { keepHeadChars: 200 } } } })
    expect(facts.settings.project_env).toEqual(['NOTESOUP_HOME', 'NOTESOUP_LOG'])
    expect(JSON.stringify(w.plans)).not.toContain('secret')
  })

  test('options come as register got them, an unset one as an empty text', { options: { keepHeadChars: 250 } }, async ($, on) => {
    const w = world(on)
    await $.session.start(START)
    expect(w.plans[0]?.facts.settings.options).toEqual({ profile: '', resetMarginTokens: '', warningRunwayTokens: '', preserveRecentMessages: '', keepHeadChars: 250 })
  })

  test('turns of the main loop are counted, aborted and subagents’ ones are not', async ($, on) => {
    const w = world(on)
    w.plan = () => planFor('turn.start', 'turn.complete')
    await $.session.start(START)
    await $.turn.start({ text: 'a', turnId: 't1' })
    await $.turn.complete({ ...ended('x1'), agentId: 'a-1' })
    await $.turn.complete(ended('t1'))
    await $.turn.start({ text: 'b', turnId: 't2' })
    await $.turn.complete(ended('t2', true))
    // A prompt typed ahead starts its turn before the end of the last one is heard.
    await $.turn.start({ text: 'c', turnId: 't3' })
    await $.turn.start({ text: 'd', turnId: 't4' })
    await $.turn.complete(ended('t3'))
    expect(w.hooks.map(request => [request.event, request.facts.agent_id, request.facts.turn])).toEqual([
      ['turn.start', null, { running: true, id: 't1', completed: 0 }],
      ['turn.complete', 'a-1', { running: true, id: 't1', completed: 0 }],
      ['turn.complete', null, { running: false, id: null, completed: 1 }],
      ['turn.start', null, { running: true, id: 't2', completed: 1 }],
      ['turn.complete', null, { running: false, id: null, completed: 1 }],
      ['turn.start', null, { running: true, id: 't3', completed: 1 }],
      ['turn.start', null, { running: true, id: 't4', completed: 1 }],
      ['turn.complete', null, { running: true, id: 't4', completed: 2 }],
    ])
  })

  test('the breakdown is asked for only when something that moves it changed, and never inside prompt.context', async ($, on) => {
    const w = world(on)
    await $.prompt.context({ blocks: [] })
    expect(w.breakdowns).toBe(0)
    await $.session.start(START)
    await $.turn.start({ text: 'a', turnId: 't1' })
    await $.turn.start({ text: 'b', turnId: 't2' })
    expect(w.breakdowns).toBe(1)
    w.settings = { merged: { autoCompactWindow: 300000 } }
    await $.turn.start({ text: 'c', turnId: 't3' })
    expect(w.breakdowns).toBe(2)
  })
})

describe('text for the model', () => {
  test('rides beside the event, behind what others add', async ($, on) => {
    const w = world(on)
    w.plan = () => planFor('classic.SessionStart', 'classic.UserPromptSubmit', 'classic.PostToolBatch', 'classic.Stop')
    w.hook = request => context(`ours at ${request.event}`)
    on('classic.SessionStart', () => ({ additionalContext: ['theirs'] }))
    on('classic.UserPromptSubmit', () => ({}))
    on('classic.PostToolBatch', () => ({}))
    on('classic.Stop', () => ({}))
    expect((await $.classic.SessionStart({ source: 'startup', ...classic() })).additionalContext).toEqual(['theirs', 'ours at classic.SessionStart'])
    expect((await $.classic.UserPromptSubmit({ prompt: 'hi', ...classic() })).additionalContext).toEqual(['ours at classic.UserPromptSubmit'])
    expect((await $.classic.PostToolBatch({ tool_calls: [], ...classic() })).additionalContext).toEqual(['ours at classic.PostToolBatch'])
    expect((await $.classic.Stop({ stop_hook_active: false, ...classic() })).additionalContext).toEqual(['ours at classic.Stop'])
    expect(w.hooks[0]?.e.source).toBe('startup')
  })

  test('is not asked for when the event was stopped by somebody else', async ($, on) => {
    const w = world(on)
    w.plan = () => planFor('classic.UserPromptSubmit', 'classic.Stop')
    on('classic.UserPromptSubmit', () => ({ block: 'no' }))
    on('classic.Stop', () => ({ block: 'go on' }))
    expect((await $.classic.UserPromptSubmit({ prompt: 'hi', ...classic() })).block).toBe('no')
    expect((await $.classic.Stop({ stop_hook_active: false, ...classic() })).block).toBe('go on')
    expect(w.hooks.length).toBe(0)
  })

  test('blocks are added behind those that are there', async ($, on) => {
    const w = world(on)
    w.plan = () => planFor('prompt.context')
    w.hook = () => ({ v: 1, answer: { kind: 'blocks', blocks: [{ name: 'notesoup:boot', text: 'BOOT' }] } })
    const answer = await $.prompt.context({ blocks: [{ name: 'currentDate', text: 'today' }] })
    expect(answer.blocks.map(block => block.name)).toEqual(['currentDate', 'notesoup:boot'])
  })
})

describe('marks', () => {
  const marked = (percent: boolean) => ({
    v: 1,
    fingerprint: 'one',
    events: {
      'classic.PostToolBatch': { wake: ['warn_mark'], timeout_ms: 5000 },
      'classic.Stop': { wake: ['reset_mark', 'pending'], timeout_ms: 5000 },
    },
    watch: { warn_at: percent ? 60 : 140000, reset_at: percent ? 80 : 160000, percent, pending: false },
  })

  test('start the program when the fill reaches them, on the main loop alone', async ($, on) => {
    const w = world(on)
    w.plan = () => marked(false)
    on('classic.PostToolBatch', () => ({}))
    on('classic.Stop', () => ({}))
    await $.session.start(START)
    w.usage = { tokens: 139999, window: 200000, percent: 70 }
    await $.classic.PostToolBatch({ tool_calls: [], ...classic() })
    await $.classic.Stop({ stop_hook_active: false, ...classic() })
    expect(w.hooks.length).toBe(0)
    w.usage = { tokens: 140000, window: 200000, percent: 70 }
    await $.classic.PostToolBatch({ tool_calls: [], agent_id: 'a-1', ...classic() })
    expect(w.hooks.length).toBe(0)
    await $.classic.PostToolBatch({ tool_calls: [], ...classic() })
    await $.classic.Stop({ stop_hook_active: false, ...classic() })
    expect(w.hooks.map(request => request.event)).toEqual(['classic.PostToolBatch'])
    w.usage = { tokens: 160000, window: 200000, percent: 80 }
    await $.classic.Stop({ stop_hook_active: false, ...classic() })
    expect(w.hooks.map(request => request.event)).toEqual(['classic.PostToolBatch', 'classic.Stop'])
    // Right after a compaction there is no figure: nothing is reached.
    w.usage = { window: 200000 }
    await $.classic.Stop({ stop_hook_active: false, ...classic() })
    expect(w.hooks.length).toBe(2)
  })

  test('tell of a rewind, at which a warned window starts the program', async ($, on) => {
    const w = world(on)
    const plan = { ...marked(false), events: { 'classic.UserPromptSubmit': { wake: ['warn_mark', 'rewound', 'pending'], timeout_ms: 5000 } } }
    w.plan = () => ({ ...plan, watch: { ...plan.watch, warn_at: null, warned_at: 140000 } })
    on('classic.UserPromptSubmit', () => ({}))
    w.usage = { tokens: 140000, window: 200000, percent: 70 }
    await $.classic.UserPromptSubmit({ prompt: 'a', ...classic() })
    w.usage = { window: 200000 }
    await $.classic.UserPromptSubmit({ prompt: 'b', ...classic() })
    expect(w.hooks.length).toBe(0)
    w.usage = { tokens: 139999, window: 200000, percent: 70 }
    await $.classic.UserPromptSubmit({ prompt: 'c', ...classic() })
    expect(w.hooks.length).toBe(1)
  })

  test('may be percents', async ($, on) => {
    const w = world(on)
    w.plan = () => marked(true)
    on('classic.PostToolBatch', () => ({}))
    w.usage = { tokens: 190000, percent: 59 }
    await $.classic.PostToolBatch({ tool_calls: [], ...classic() })
    expect(w.hooks.length).toBe(0)
    w.usage = { tokens: 190000, percent: 60 }
    await $.classic.PostToolBatch({ tool_calls: [], ...classic() })
    expect(w.hooks.length).toBe(1)
  })

  test('are moved by a reply, and what is pending outlives a new plan', async ($, on) => {
    const w = world(on)
    let fingerprint = 'one'
    w.plan = () => ({ ...marked(false), fingerprint })
    w.hook = request => (request.event === 'classic.PostToolBatch' ? { v: 1, watch: { warn_at: null, reset_at: 160000, percent: false, pending: true } } : { v: 1 })
    on('classic.PostToolBatch', () => ({}))
    on('classic.Stop', () => ({}))
    w.usage = { tokens: 150000, window: 200000, percent: 75 }
    await $.classic.PostToolBatch({ tool_calls: [], ...classic() })
    await $.classic.PostToolBatch({ tool_calls: [], ...classic() })
    expect(w.hooks.map(request => request.event)).toEqual(['classic.PostToolBatch'])
    fingerprint = 'two'
    await $.turn.start({ text: 'a', turnId: 't1' })
    await $.classic.Stop({ stop_hook_active: false, ...classic() })
    expect(w.hooks.map(request => request.event)).toEqual(['classic.PostToolBatch', 'classic.Stop'])
  })
})

describe('sessions', () => {
  test('state goes back to the program and is forgotten with the session', async ($, on) => {
    const w = world(on)
    w.plan = () => planFor('classic.SessionStart', 'session.measure', 'session.end')
    w.hook = request => ({ v: 1, state: { n: (request.state?.n ?? 0) + 1 } })
    on('classic.SessionStart', () => ({}))
    await $.classic.SessionStart({ source: 'startup', ...classic() })
    await $.session.measure(MEASURE)
    await $.session.end({ reason: 'clear', sessionId: 's-1', resume: {} } as never)
    w.sessionId = 's-2'
    await $.classic.SessionStart({ source: 'clear', ...classic('s-2') })
    await $.session.measure(MEASURE)
    expect(w.hooks.map(request => [request.event, request.state, request.facts.session_id, request.facts.transcript_path])).toEqual([
      ['classic.SessionStart', null, 's-1', classic('s-1').transcript_path],
      ['session.measure', { n: 1 }, 's-1', classic('s-1').transcript_path],
      ['session.end', { n: 2 }, 's-1', classic('s-1').transcript_path],
      ['classic.SessionStart', null, 's-2', classic('s-2').transcript_path],
      ['session.measure', { n: 1 }, 's-2', classic('s-2').transcript_path],
    ])
    expect(w.runs.find(run => run.argv[1] === 'hook' && run.timeoutMs === 1000)).toBeDefined()
  })

  test('a reply that another one overtook is asked for again, with the state that stands', async ($, on) => {
    const w = world(on)
    w.plan = () => planFor('classic.Stop', 'session.measure')
    on('classic.Stop', () => ({}))
    let isFirst = true
    w.hook = async request => {
      if (request.event === 'session.measure') return { v: 1, state: { measured: true } }
      if (isFirst) {
        isFirst = false
        await $.session.measure(MEASURE)
      }
      return { v: 1, state: { ...request.state, stopped: true }, answer: { kind: 'context', texts: ['once'] }, effects: [{ effect: 'log', text: 'stopped' }] }
    }
    const answer = await $.classic.Stop({ stop_hook_active: false, ...classic() })
    expect(answer.additionalContext).toEqual(['once'])
    expect(w.lines).toEqual(['stopped'])
    expect(w.hooks.map(request => [request.event, request.state])).toEqual([
      ['classic.Stop', null],
      ['session.measure', null],
      ['classic.Stop', { measured: true }],
    ])
    w.hook = () => ({ v: 1 })
    await $.session.measure(MEASURE)
    expect(w.hooks.at(-1)?.state).toEqual({ measured: true, stopped: true })
  })

  test('a plugin that causes an event is named', { plugins: [{ name: 'other', register(on) { on('turn.complete', async ($, e, next) => { await $.session.compact(); return next(e) }) } }] }, async ($, on) => {
    const w = world(on)
    w.plan = () => planFor('session.compact')
    w.hook = () => ({ v: 1, answer: { kind: 'skip', reason: 'not now' } })
    await $.turn.complete(ended('t1'))
    expect(w.hooks.map(request => request.facts.origin_plugin)).toEqual(['other'])
  })
})
