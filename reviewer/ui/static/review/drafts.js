// The text somebody is working on: the steps as edited, a way back, a copy on the server after each change, and one in the
// browser until the server has it.

import { lasting } from '../common/browser_storage.js'
import { Unreachable, newKey, postSoon } from '../common/http.js'
import { sameSteps } from '../trace/steps.js'

const AFTER_TYPING = 400 // ms
const TRY_AGAIN = 3000
const MOST_UNHEARD = 100

export class Drafting {
  /**
   * @param {Object} item  drawn from its version
   * @param {KeptText} kept
   * @param {{onSaved: (iso: string) => void, onUnsaved: (error: Error) => void, onOther: (other: Object) => void}} callbacks
   *        onOther: the server had another text of this person here, from another page; it is replaced there
   */
  constructor(item, kept, callbacks) {
    this.item = item
    this.base = item.version.id
    this.original = item.trajectory.steps
    this.steps = this.original
    this.comment = ''
    this.kept = kept
    this.on = callbacks
    this.past = []
    this.pending = false
    this.closed = false
    this.held = false
    this.after = item.autosave?.base === this.base ? item.autosave.at : null
    this.sent = [] // digests of what is on its way, or whose answer was lost
    this.adopted = [] // what was found in the browser and is here now
  }

  get dirty() {
    return !sameSteps(this.steps, this.original)
  }

  /** Whether something would be lost if the page were closed now. */
  get onlyHere() {
    return (this.pending || this.sent.length > 0) && this.keptHere === false
  }

  /** Take new steps. Typing in one field is one step of the way back, not one a letter. */
  change(steps, { field = null } = {}) {
    if (field === null || field !== this.lastField) this.past.push(this.steps)
    this.lastField = field
    this.steps = steps
    this.#save()
  }

  undo() {
    const before = this.past.pop()
    if (!before) return false
    this.steps = before
    this.lastField = null
    this.#save()
    return true
  }

  setComment(text) {
    this.comment = text
    this.#save()
  }

  /** Steps found again after a reload or a crash. `entry`: kept in the browser, so the server is sent them. */
  restore(steps, comment, entry = null) {
    this.past.push(this.steps)
    this.steps = steps
    this.comment = comment ?? ''
    if (!entry) return
    this.adopted.push(entry)
    this.#save()
  }

  /** Go on with what was written before on the same version; `editable`: whether that may be more than the comment. */
  takeOver(former, editable) {
    this.comment = former.comment
    if (editable && former.past.length) {
      this.steps = former.steps
      this.past = former.past
    }
    const { after, sent, adopted } = former
    Object.assign(this, { after: after ?? this.after, sent, adopted })
    former.stop()
    if (former.pending || sent.length) this.#save()
  }

  #save() {
    this.pending = true
    this.#keep()
    clearTimeout(this.timer)
    this.timer = setTimeout(() => this.flush(), AFTER_TYPING)
  }

  #keep() {
    this.keptHere = this.kept.keep(this.item, this)
  }

  /** Until `goOn` nothing more is sent; resolves once what is on its way has arrived or failed. After a decision it would come back. */
  async hold() {
    this.held = true
    await this.flying?.catch(() => {})
  }

  goOn() {
    this.held = false
    this.flush()
  }

  /** A decision was sent with these: only what was typed since is unsent, and the decision took the rest away on the server. */
  decided(steps, comment) {
    if (this.comment === comment) this.comment = ''
    if (this.steps === steps && !this.comment) this.close()
    else if (!this.closed) this.#save()
  }

  /** Send what is not yet on the server. Kept trying while the page is open. */
  async flush() {
    clearTimeout(this.timer)
    if (!this.pending || this.closed || this.held) return
    this.pending = false
    const unheard = this.sent
    const body = { base: this.base, steps: this.steps, comment: this.comment, after: this.after }
    this.sent = [...unheard.slice(-MOST_UNHEARD), digest(asText(body))]
    this.#keep()
    try {
      this.flying = postSoon(`/api/item/${this.item.id}/autosave`, body)
      const { at, replaced } = await this.flying
      this.#heard(at)
      if (replaced && !unheard.includes(digest(asText(replaced.body)))) this.on.onOther(replaced)
    } catch (error) {
      this.pending = true
      if (this.closed) return
      this.on.onUnsaved(error)
      if (error instanceof Unreachable || error.passes) this.timer = setTimeout(() => this.flush(), TRY_AGAIN)
    }
  }

  #heard(at) {
    if (this.closed) return
    this.after = at
    this.sent = []
    for (const entry of this.adopted.splice(0)) this.kept.forget(entry)
    if (!this.pending) this.kept.drop(this.item)
    else this.#keep()
    this.on.onSaved(at)
  }

  /** Nothing more is sent from here. */
  stop() {
    this.closed = true
    clearTimeout(this.timer)
  }

  /** After its text became a version, or was thrown away, there is nothing unsent left. */
  close() {
    this.stop()
    for (const entry of this.adopted.splice(0)) this.kept.forget(entry)
    this.kept.drop(this.item)
  }

  /** Thrown away: what is saved a moment later, before the page shows the item as it is, is not this any more. */
  discard() {
    this.close()
    this.steps = this.original
    this.comment = ''
  }
}

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
