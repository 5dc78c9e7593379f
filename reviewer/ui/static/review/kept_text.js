// What was typed and has not reached the server, kept in the browser's own storage by person, item and version. An entry is
// taken away once the server has its text. Each page writes entries of its own, so that two tabs never overwrite each other.

import { lasting } from '../common/browser_storage.js'
import { newKey } from '../common/http.js'

const PREFIX = 'so-kept'

/** A short name of a text, to know again what was sent (FNV-1a, and its length). */
export function digest(text) {
  let hash = 2166136261
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 16777619)
  return `${(hash >>> 0).toString(36)}.${text.length}`
}

/** What an autosave holds, as text; the same for what is here and for what the server gives back. */
export const asText = ({ steps, comment }) => JSON.stringify([steps ?? [], comment ?? ''])

export class KeptText {
  /** @param {string} who  initials: several people may share a browser, and nobody is shown another's text */
  constructor(who) {
    this.who = who
    this.page = newKey().slice(0, 8)
  }

  /**
   * Keep a text; false where the browser has no room or forbids it.
   * `after`: when the server last took this text's predecessor; `sent`: the digest of what is on its way there.
   */
  keep(item, { steps, comment, after, sent }, page = this.page) {
    const { id, version } = item
    return lasting.set(
      this.#name(id, version.id, page),
      JSON.stringify({ at: new Date().toISOString(), born: version.at, steps, comment, after, sent }),
    )
  }

  /** The server has the text of this page. */
  drop(item) {
    lasting.remove(this.#name(item.id, item.version.id, this.page))
  }

  /** All that is kept of this person on an item, the latest first. Another database behind the same address has other versions. */
  found(item) {
    const prefix = `${PREFIX} ${this.who} ${item.id} `
    const entries = lasting
      .names(prefix)
      .map((name) => ({
        ...lasting.read(name),
        name,
        raw: lasting.get(name),
        base: Number(name.slice(prefix.length).split(' ')[0]),
      }))
    return entries
      .filter(
        (entry) =>
          Array.isArray(entry.steps) &&
          (entry.base === item.version.id ? entry.born === item.version.at : entry.born < item.version.at),
      )
      .sort((a, b) => (a.at < b.at ? 1 : -1))
  }

  /** Take an entry away, unless its page has gone on writing since it was found. */
  forget({ name, raw }) {
    if (lasting.get(name) === raw) lasting.remove(name)
  }

  #name = (item, version, page) => `${PREFIX} ${this.who} ${item} ${version} ${page}`
}
