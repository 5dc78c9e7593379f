// An answer while it is being given. Each change is kept in this browser under the sheet's token, so a reload, a closed
// tab or a server that is gone loses nothing; what the server has taken is kept there and no longer here.

import { lasting } from '../common/browser_storage.js'
import { newKey } from '../common/http.js'

export const CANNOT_TELL = 'cannot tell'

export class Answer {
  /**
   * @param {string} who  initials: two people may share a browser
   * @param {Object} sheet  with the answer that the server has, if any
   */
  constructor(who, sheet) {
    this.place = `so-blind ${who} ${sheet.token}`
    this.pair = sheet.kind === 'pair'
    this.heard = this.#plain(sheet.mine ?? {})
    const kept = lasting.read(this.place)
    this.said = { ...(kept?.said ?? this.heard) }
    this.sent = kept?.sent ?? null // what was last sent, and under which key
    this.restored = kept !== null && this.changed
  }

  #plain(mine) {
    const { coherence = null, consistency = null, preference = null, comment = '', wrong_steps = [] } = mine
    return this.pair ? { preference, comment } : { coherence, consistency, comment, wrong_steps: [...wrong_steps] }
  }

  /** Whether the server has something else, or nothing. */
  get changed() {
    return JSON.stringify(this.said) !== JSON.stringify(this.heard)
  }

  get complete() {
    return this.pair ? this.said.preference !== null : this.said.coherence !== null && this.said.consistency !== null
  }

  set(change) {
    Object.assign(this.said, change)
    if (this.changed) this.#keep()
    else lasting.remove(this.place)
  }

  toggleWrong(step) {
    const { wrong_steps: wrong } = this.said
    this.set({ wrong_steps: wrong.includes(step) ? wrong.filter((one) => one !== step) : [...wrong, step] })
  }

  /** What to send. The same answer goes under the same key however often it is sent; another one gets a new key. */
  body() {
    const text = JSON.stringify(this.said)
    if (this.sent?.text !== text) this.sent = { text, key: newKey() }
    this.#keep()
    const { coherence, consistency, ...rest } = this.said
    const scores = this.pair ? {} : { coherence: number(coherence), consistency: number(consistency) }
    return { ...rest, ...scores, key: this.sent.key }
  }

  /** The server has taken what was sent under this text. */
  taken(text) {
    this.heard = JSON.parse(text)
    if (!this.changed) lasting.remove(this.place)
  }

  #keep() {
    lasting.set(this.place, JSON.stringify({ said: this.said, sent: this.sent }))
  }
}

const number = (score) => (score === CANNOT_TELL ? null : score)
