import { describe, expect } from 'claude-code/testing'
import { MEASURE, START, classic, planFor, test, world } from './world'
import type { Output, World } from './world'

const GOES_ON = '. The session goes on without it.'

/** One event whose program fails in this way; gives the lines that the person sees. */
async function failing($: any, w: World, output: Output): Promise<string[]> {
  w.plan = () => planFor('classic.UserPromptSubmit')
  w.hook = () => output
  const answer = await $.classic.UserPromptSubmit({ prompt: 'hi', ...classic() })
  expect(answer.additionalContext).toEqual(['theirs'])
  return w.lines
}

describe('a program that fails is said once, and the session goes on', () => {
  const cases: [name: string, output: Output, line: string][] = [
    ['takes too long', { fail: 'aborted: still running after 5000ms' }, 'the program took longer than 5 s'],
    ['cannot be executed', { fail: 'failed to start: EACCES: permission denied' }, '/opt/notesoup cannot be started: it is not executable'],
    ['ends with an exit code', { run: { exitCode: 101, stderr: 'thread panicked\nat main' } }, 'the program ended with exit code 101: thread panicked'],
    ['ends with an exit code in silence', { run: { exitCode: 1 } }, 'the program ended with exit code 1'],
    ['prints rubbish', 'Segmentation fault', 'the program printed something else than a reply: Segmentation fault'],
    ['prints nothing', '', 'the program printed something else than a reply: (nothing)'],
    ['prints a list', '[1]', 'the program printed something else than a reply: [1]'],
    ['prints a reply that is cut off', { run: { stdout: '{"v":1,"ans', isStdoutTruncated: true } }, 'the program answered more than 4 MiB, which Claude Code cuts off'],
    ['is newer', { v: 2, answer: { kind: 'context', texts: ['x'] } }, 'plugin and program do not fit: the plugin is older than the program: update the plugin (`notesoup install`); the plugin speaks version 1, the program 2'],
    ['is older', { v: 0 }, 'plugin and program do not fit: the program is older than the plugin: update the program (`cargo install --path .` in its repository); the plugin speaks version 1, the program 0'],
    ['forgets its version', { answer: { kind: 'context', texts: ['x'] } }, 'the program printed a reply without its version'],
    ['refuses', { run: { exitCode: 64, stdout: '{"v":1,"error":{"kind":"unknown_event","message":"unknown event `x`"}}' } }, 'the program refused the request: unknown event `x`'],
  ]
  for (const [name, output, line] of cases) {
    test(name, async ($, on) => {
      const w = world(on)
      on('classic.UserPromptSubmit', () => ({ additionalContext: ['theirs'] }))
      expect(await failing($, w, output)).toEqual([line + GOES_ON])
      expect(await failing($, w, output)).toEqual([line + GOES_ON])
      expect(w.hooks.length).toBe(2)
    })
  }
})

test('Escape while the program runs is no failure of it', async ($, on) => {
  const w = world(on)
  on('classic.UserPromptSubmit', () => ({ additionalContext: ['theirs'] }))
  expect(await failing($, w, { fail: '$.process.run(/opt/notesoup) aborted' })).toEqual([])
  await $.turn.start({ turnId: 't1', text: 'hi' })
  expect(w.lines).toEqual([])
})

describe('the program', () => {
  test('is looked for beside the plugin, then on the PATH', async ($, on) => {
    const w = world(on, { env: { NOTESOUP_BIN: '' } })
    w.plan = () => ({ fail: 'failed to start: ENOENT: no such file or directory' })
    await $.session.start(START)
    expect(w.runs.length).toBe(2)
    expect(w.runs[0]?.argv[0]).toMatch(/\/bin\/notesoup$/)
    expect(w.runs[1]?.argv).toEqual(['notesoup', 'plan'])
    expect(w.lines.length).toBe(1)
    expect(w.lines[0]).toContain('`notesoup install`')
  })

  test('that is not there is left alone until the next prompt', async ($, on) => {
    const w = world(on)
    on('classic.UserPromptSubmit', () => ({}))
    w.plan = () => ({ fail: 'failed to start: ENOENT: no such file or directory' })
    await $.session.start(START)
    await $.session.measure(MEASURE)
    expect(w.runs.length).toBe(1)
    expect(w.lines).toEqual([`NOTESOUP_BIN names /opt/notesoup, which is not there${GOES_ON}`])
    w.plan = () => planFor('session.measure')
    await $.classic.UserPromptSubmit({ prompt: 'hi', ...classic() })
    await $.session.measure(MEASURE)
    expect(w.hooks.map(request => request.event)).toEqual(['session.measure'])
  })

  test('is left alone after three failures in a row; a prompt gives it one more try', async ($, on) => {
    const w = world(on)
    on('classic.UserPromptSubmit', () => ({}))
    w.plan = () => planFor('session.measure')
    w.hook = () => ({ run: { exitCode: 1 } })
    for (let n = 0; n < 5; n += 1) await $.session.measure(MEASURE)
    expect(w.hooks.length).toBe(3)
    expect(w.lines).toEqual([`the program ended with exit code 1${GOES_ON}`, '3 failures in a row; the program is left alone until your next prompt.'])
    await $.classic.UserPromptSubmit({ prompt: 'hi', ...classic() })
    for (let n = 0; n < 5; n += 1) await $.session.measure(MEASURE)
    expect(w.hooks.length).toBe(4)
    await $.classic.UserPromptSubmit({ prompt: 'hi', ...classic() })
    w.hook = () => ({ v: 1 })
    for (let n = 0; n < 5; n += 1) await $.session.measure(MEASURE)
    expect(w.hooks.length).toBe(9)
    expect(w.lines.length).toBe(2)
  })

  test('that answers in between starts the count anew', async ($, on) => {
    const w = world(on)
    w.plan = () => planFor('session.measure')
    let n = 0
    w.hook = () => ((n += 1) % 3 === 0 ? { v: 1 } : { run: { exitCode: 1 } })
    for (let i = 0; i < 9; i += 1) await $.session.measure(MEASURE)
    expect(w.hooks.length).toBe(9)
  })

  test('is not chosen by a project', async ($, on) => {
    const w = world(on, { env: { NOTESOUP_BIN: '/evil/notesoup' }, settings: { project: { env: { NOTESOUP_BIN: '/evil/notesoup' } } } })
    w.plan = () => planFor('session.measure')
    await $.session.start(START)
    await $.session.measure(MEASURE)
    expect(w.runs.map(run => run.argv[0]).filter(program => program === '/evil/notesoup')).toEqual([])
    expect(w.runs.length).toBeGreaterThan(1)
    expect(w.lines.length).toBe(1)
    expect(w.lines[0]).toContain('NOTESOUP_BIN of this project')
  })

  test('is not looked for on a PATH that a project sets', async ($, on) => {
    const w = world(on, { env: { NOTESOUP_BIN: '' }, settings: { local: { env: { PATH: '/evil' } } } })
    w.plan = () => ({ fail: 'failed to start: ENOENT: no such file or directory' })
    await $.session.start(START)
    expect(w.runs.map(run => run.argv[0])).not.toContain('notesoup')
    expect(w.lines.length).toBe(1)
    expect(w.lines[0]).toContain('PATH')
  })
})

test('a plan that fails leaves every event as it was', async ($, on) => {
  const w = world(on)
  w.plan = () => 'rubbish'
  on('classic.Stop', () => ({ additionalContext: ['theirs'] }))
  on('session.compact', () => ({ messages: [{ role: 'user', text: 'summary', toolUses: [] }] }))
  await $.session.start(START)
  expect((await $.classic.Stop({ stop_hook_active: false, ...classic() })).additionalContext).toEqual(['theirs'])
  expect((await $.session.compact({ trigger: 'auto', messages: [{ role: 'user', text: 'hi', toolUses: [] }] })).messages?.[0]?.text).toBe('summary')
  expect((await $.prompt.context({ blocks: [{ name: 'currentDate', text: 'today' }] })).blocks.length).toBe(1)
  expect(w.hooks.length).toBe(0)
})

test('a cut that cannot be made is not replaced by a summary, and a summary comes as without the plugin', async ($, on) => {
  const w = world(on)
  on('session.compact', () => ({ messages: [{ role: 'user', text: 'summary', toolUses: [] }] }))
  w.plan = () => planFor('session.compact')
  w.hook = () => ({ run: { exitCode: 1 } })
  const compact = (instructions: string) => $.session.compact({ trigger: 'manual', instructions, messages: [{ role: 'user', text: 'hi', toolUses: [] }] })
  // The last ones after the program was given up for a while.
  for (const words of ['prune', ' Prune 120k', 'prune preview 120k', 'prune']) expect(await compact(words)).toEqual({ skip: 'the program ended with exit code 1' })
  expect(w.hooks.length).toBe(3)
  expect((await compact('prune nothing, keep the names')).messages?.[0]?.text).toBe('summary')
})
