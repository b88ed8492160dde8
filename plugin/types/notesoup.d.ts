// The one value that this plugin keeps in the session. Nothing in it is for other plugins to rely on.

/** What the courier keeps: facts of the process, and of the session that runs in it. */
export type NotesoupStored = { readonly process: object; readonly session: object | null }

declare module 'claude-code' {
  interface PluginState {
    notesoup: { session: NotesoupStored }
  }
}
