// Another plugin that meddles with compactions, as the newest prompt tells it: `rival skips`, `rival replaces`, or
// `rival compacts` at the end of the turn.
export function register(on) {
  let mood = ''

  on('classic.UserPromptSubmit', async ($, e, next) => {
    mood = /rival (\w+)/.exec(e.prompt)?.[1] ?? ''
    return next(e)
  })

  on('session.compact', async ($, e, next) => {
    if (mood === 'skips') return { skip: 'the rival says no' }
    if (mood === 'replaces') return { messages: [{ role: 'user', text: 'what the rival keeps', toolUses: [] }] }
    return next(e)
  })

  on('command.run', { command: 'fresh-window' }, async ($, e, next) => {
    const result = await next(e)
    if (mood === 'holds') await $.clock.sleep(1000)
    return result
  })

  on('turn.complete', async ($, e, next) => {
    const result = await next(e)
    if (mood === 'compacts') {
      mood = ''
      await $.session.compact({ instructions: 'keep the rival in mind' })
    }
    return result
  })
}
