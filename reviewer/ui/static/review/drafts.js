// The text being edited: the steps with undo, an autosave on the server after each change, and a copy in the browser
// until the server has it.

import { lasting } from '../common/browser_storage.js'
import { newKey, postRepeatable } from '../common/http.js'
import { passes } from '../status/outbox.js'
import { sameSteps } from '../trace/steps.js'

const AFTER_TYPING = 400 // ms
const RETRY_AFTER = 3000 // ms
const MOST_UNANSWERED = 100
const PREFIX = 'so-kept'

/**
 * A text found in the browser's storage.
 * @typedef {Object} StoredText
 * @property {string} name in the storage
 * @property {string | null} raw as stored
 * @property {number} base the version it was written on
 * @property {string} born when that version was made
 * @property {string} at when it was stored
 * @property {Step[]} steps
 * @property {string} comment
 * @property {string | null} after the autosave that this text followed
 * @property {string[]} sent digests of what was being sent
 */

export class Draft {
  #callbacks
  #copies
  /** @type {Step[][]} earlier steps, the latest last */
  #undo = []
  /** @type {Step[][]} steps that were undone, the latest last */
  #redo = []
  /** @type {string | null} */
  #lastField = null
  /** Whether nothing more is sent. */
  closed = false
  #paused = false
  /** Whether the browser took the copy. */
  #copied = true
  /** @type {Promise<any> | null} */
  #request = null
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer

  /**
   * @param {Item} item @param {LocalCopies} copies
   * @param {{onSaved: (iso: string) => void, onUnsaved: (error: any) => void, onOther: (other: Autosave) => void}}
   *   callbacks the server has the text, or not yet; `other` of another page of this person was replaced
   */
  constructor(item, copies, callbacks) {
    this.#callbacks = callbacks
    this.#copies = copies
    this.item = item
    this.base = item.version.id
    this.original = item.trajectory.steps
    /** @type {Step[]} */
    this.steps = this.original
    this.comment = ''
    this.pending = false
    /** @type {string | null} the autosave that the next one follows */
    this.after = item.autosave?.base === this.base ? item.autosave.at : null
    /** @type {string[]} digests of what is being sent, or whose answer was lost */
    this.sent = []
    /** @type {StoredText[]} texts found in the browser that are part of this one now */
    this.adopted = []
  }

  get dirty() {
    return !sameSteps(this.steps, this.original)
  }

  /** Whether closing the page now would lose something. */
  get onlyOnPage() {
    return (this.pending || this.sent.length > 0) && !this.#copied
  }

  /**
   * Set new steps. All changes in one visit of a field are one undo step.
   * @param {Step[]} steps @param {string | null} field
   */
  change(steps, field) {
    if (field === null || field !== this.#lastField) this.#undo.push(this.steps)
    this.#redo = []
    this.#lastField = field
    this.steps = steps
    this.#save()
  }

  /** Take back the last change; false where there is none. */
  undo = () => this.#exchange(this.#undo, this.#redo)

  /** Make the change again that was taken back last; false where there is none. */
  redo = () => this.#exchange(this.#redo, this.#undo)

  /** @param {Step[][]} from @param {Step[][]} to */
  #exchange(from, to) {
    const steps = from.pop()
    if (!steps) return false
    to.push(this.steps)
    this.steps = steps
    this.#lastField = null
    this.#save()
    return true
  }

  /** @param {string} text */
  setComment(text) {
    this.comment = text
    this.#save()
  }

  /**
   * Continue a text found after a reload or a crash. One from the browser (`entry`) is sent to the server.
   * @param {Step[]} steps @param {string} comment @param {StoredText | null} entry
   */
  restore(steps, comment, entry = null) {
    this.#undo.push(this.steps)
    this.#redo = []
    this.steps = steps
    this.comment = comment ?? ''
    if (!entry) return
    this.adopted.push(entry)
    this.#save()
  }

  /**
   * Continue what was written before on the same version.
   * @param {Draft} former @param {boolean} editable whether more than the comment can be written
   */
  takeOver(former, editable) {
    this.comment = former.comment
    if (editable && (former.#undo.length || former.#redo.length))
      [this.steps, this.#undo, this.#redo] = [former.steps, former.#undo, former.#redo]
    const { after, sent, adopted } = former
    Object.assign(this, { after: after ?? this.after, sent, adopted })
    former.stop()
    if (former.pending || sent.length) this.#save()
  }

  #save() {
    this.pending = true
    this.#copy()
    clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.flush(), AFTER_TYPING)
  }

  #copy() {
    this.#copied = this.#copies.keep(this.item, this)
  }

  /** Send nothing until `resume`, or an autosave would arrive after the decision. Resolves when none is being sent. */
  async pause() {
    this.#paused = true
    await this.#request?.catch(() => {})
  }

  resume() {
    this.#paused = false
    this.flush()
  }

  /**
   * A decision with this text was accepted and the server has removed its autosave: only later changes are unsent.
   * @param {Step[]} steps @param {string} comment
   */
  decided(steps, comment) {
    if (this.comment === comment) this.comment = ''
    if (this.steps === steps && !this.comment) this.close()
    else if (!this.closed) this.#save()
  }

  /** Send what is not yet on the server; retried while the page is open. */
  async flush() {
    clearTimeout(this.#timer)
    if (!this.pending || this.closed || this.#paused) return
    this.pending = false
    const unanswered = this.sent
    const body = { base: this.base, steps: this.steps, comment: this.comment, after: this.after }
    this.sent = [...unanswered.slice(-MOST_UNANSWERED), digest(asText(body))]
    this.#copy()
    try {
      this.#request = postRepeatable(`/api/v1/item/${this.item.id}/autosave`, body)
      const { at, replaced } = await this.#request
      this.#saved(at)
      if (replaced && !unanswered.includes(digest(asText(replaced.body)))) this.#callbacks.onOther(replaced)
    } catch (error) {
      this.pending = true
      if (this.closed) return
      this.#callbacks.onUnsaved(error)
      if (passes(error)) this.#timer = setTimeout(() => this.flush(), RETRY_AFTER)
    }
  }

  /** @param {string} at */
  #saved(at) {
    if (this.closed) return
    Object.assign(this, { after: at, sent: [] })
    this.#forgetAdopted()
    if (!this.pending) this.#copies.drop(this.item)
    else this.#copy()
    this.#callbacks.onSaved(at)
  }

  #forgetAdopted() {
    for (const entry of this.adopted.splice(0)) this.#copies.forget(entry)
  }

  /** Send nothing more. */
  stop() {
    this.closed = true
    clearTimeout(this.#timer)
  }

  /** The text was saved as a version or discarded: nothing is unsent. */
  close() {
    this.stop()
    this.#forgetAdopted()
    this.#copies.drop(this.item)
  }

  /** Discard the text, also for anything saved before the page is drawn again. */
  discard() {
    this.close()
    /** @type {Step[]} */
    this.steps = this.original
    this.comment = ''
  }
}

/** A short name of a text, to recognise what was sent (FNV-1a and the length). @param {string} text */
export function digest(text) {
  let hash = 2166136261
  for (let at = 0; at < text.length; at += 1) hash = Math.imul(hash ^ text.charCodeAt(at), 16777619)
  return `${(hash >>> 0).toString(36)}.${text.length}`
}

/** What an autosave holds; the same for a text of this page and for one that the server returns. */
export const asText = (/** @type {{steps?: Step[], comment?: string}} */ { steps, comment }) =>
  JSON.stringify([steps ?? [], comment ?? ''])

/**
 * Copies of unsaved texts in the browser's storage, by person, item, version and page, so that two tabs never overwrite
 * each other. A copy is removed when the server has its text.
 */
export class LocalCopies {
  #page = newKey().slice(0, 8)

  /** @param {string} initials several people may share a browser, and nobody is shown another's text */
  constructor(initials) {
    this.initials = initials
  }

  /**
   * Store a copy; false where the browser has no room or forbids it.
   * @param {Item} item @param {{steps: Step[], comment: string, after: string | null, sent: string[]}} text
   */
  keep(item, { steps, comment, after, sent }, page = this.#page) {
    const { id, version } = item
    const copy = { at: new Date().toISOString(), born: version.at, steps, comment, after, sent }
    return lasting.set(this.#name(id, version.id, page), JSON.stringify(copy))
  }

  /** Remove the copy of this page. @param {Item} item */
  drop(item) {
    lasting.remove(this.#name(item.id, item.version.id, this.#page))
  }

  /**
   * All copies of this person's texts on an item, the latest first. Copies from another database behind the same
   * address are left out: its versions were made at other times.
   * @param {Item} item @returns {StoredText[]}
   */
  find(item) {
    const prefix = `${PREFIX} ${this.initials} ${item.id} `
    const { id, at } = item.version
    return lasting
      .names(prefix)
      .map((name) => {
        const base = Number(name.slice(prefix.length).split(' ')[0])
        return { ...lasting.read(name), name, raw: lasting.get(name), base }
      })
      .filter(({ steps, base, born }) => Array.isArray(steps) && (base === id ? born === at : born < at))
      .sort((a, b) => (a.at < b.at ? 1 : -1))
  }

  /** A decision with this comment was accepted. @param {number} item @param {number} version @param {string} comment */
  forgetComment(item, version, comment) {
    for (const name of lasting.names(`${PREFIX} ${this.initials} ${item} ${version} `)) {
      const copy = lasting.read(name)
      if (copy?.comment?.trim() === comment) lasting.set(name, JSON.stringify({ ...copy, comment: '' }))
    }
  }

  /** Remove a copy, unless its page has written to it since it was found. @param {StoredText} entry */
  forget({ name, raw }) {
    if (lasting.get(name) === raw) lasting.remove(name)
  }

  /** @param {number} item @param {number} version @param {string} page */
  #name(item, version, page) {
    return `${PREFIX} ${this.initials} ${item} ${version} ${page}`
  }
}
