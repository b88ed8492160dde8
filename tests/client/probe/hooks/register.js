// A plugin as small as can be that hands texts to the model on the ways the product uses.
export function register(on) {
  let starts = 0

  on('classic.SessionStart', async ($, e, next) => {
    const below = await next(e)
    if (e.source === 'resume') return below
    const boot = `<probe start="${e.source}" number="${starts++}">\nprobe boot\n</probe>`
    return { ...below, additionalContext: [...(below?.additionalContext ?? []), boot] }
  })

  // `/compact` stays the client's own; what the client does by itself starts over with the prompt that set it off.
  on('session.compact', async ($, e, next) => {
    if (e.agentId !== undefined || e.trigger !== 'auto') return next(e)
    const prompt = [...e.messages].reverse().find(m => m.role === 'user' && m.text && !m.toolResults?.length)
    const fresh = [{ role: 'user', text: 'probe reset', toolUses: [] }]
    return { messages: prompt ? [...fresh, { role: 'user', text: prompt.text, toolUses: [] }] : fresh }
  })
}
