// Picks out of what the client says the few things that the program is told. Nothing here touches `$`.

import { isObject } from './wire'

const MERGED_KEYS = ['notesoup', 'autoCompactEnabled', 'autoCompactWindow', 'modelSettings']
const BREAKDOWN_KEYS = ['rawMaxTokens', 'autoCompactThreshold', 'isAutoCompactEnabled']
const OLDER_PLUGIN = /^compact-shaper(@|$)/

/** How many messages at the end of the conversation the program is told of. */
export const NEWEST_ROWS = 16

type Json = Readonly<Record<string, unknown>>

/** The keys of the merged settings that concern us. */
export function pickMerged(settings: Json): Record<string, unknown> {
  return pick(settings, MERGED_KEYS)
}

/** The parts of a usage breakdown that say where auto-compaction fires. */
export function pickBreakdown(breakdown: object | undefined): Record<string, unknown> | null {
  return breakdown === undefined ? null : pick(breakdown as Json, BREAKDOWN_KEYS)
}

/** One source's `pluginConfigs`, the older plugin's entries alone; null when it has none. */
export function pickOlderPlugin(settings: Json): Record<string, unknown> | null {
  const configs = isObject(settings.pluginConfigs) ? settings.pluginConfigs : {}
  const picked = pick(configs, Object.keys(configs).filter(name => OLDER_PLUGIN.test(name)))
  return Object.keys(picked).length === 0 ? null : picked
}

/** The names of the variables that these settings set. */
export function envNames(...sources: Json[]): string[] {
  return [...new Set(sources.flatMap(settings => (isObject(settings.env) ? Object.keys(settings.env) : [])))].sort()
}

/** The rows of the last messages, oldest first. Older builds name none: there a message's last call stands for its row. */
export function idsAtTheEnd(messages: readonly object[]): string[] {
  const ids = messages.slice(-NEWEST_ROWS).map(message => {
    const { uuid, toolUses } = message as Json
    return uuid ?? (Array.isArray(toolUses) ? toolUses.at(-1)?.tool_use_id : undefined)
  })
  return [...new Set(ids.filter(id => typeof id === 'string'))]
}

function pick(from: Json, keys: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(keys.filter(key => from[key] !== undefined).map(key => [key, from[key]]))
}
