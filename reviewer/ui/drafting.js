// The text somebody is working on: the steps as edited, a way back, and a copy on the server after each change.

import { Unreachable, postJSON } from './http.js'
import { sameSteps } from './steps.js'

export class Drafting {
  /**
   * @param {number} itemId
   * @param {number} base  the version it is drawn from
   * @param {Array} steps  that version's steps
   * @param {{onSaved: (iso: string) => void, onUnsaved: (error: Error) => void}} callbacks
   */
  constructor(itemId, base, steps, callbacks) {
    this.itemId = itemId
    this.base = base
    this.original = steps
    this.steps = steps
    this.comment = ''
    this.on = callbacks
    this.past = []
    this.pending = false
    this.closed = false
    this.unheard = false
  }

  get dirty() {
    return !sameSteps(this.steps, this.original)
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

  /** Steps found again after a reload or a crash. */
  restore(steps, comment) {
    this.past.push(this.steps)
    this.steps = steps
    this.comment = comment ?? ''
  }

  /** Go on with what was written before on the same version; `editable`: whether that may be more than the comment. */
  takeOver(former, editable) {
    this.comment = former.comment
    if (editable && former.past.length) {
      this.steps = former.steps
      this.past = former.past
    }
    former.close()
    if (former.pending) this.#save()
  }

  #save() {
    this.pending = true
    clearTimeout(this.timer)
    this.timer = setTimeout(() => this.flush(), 400)
  }

  /** Send what is not yet on the server. Kept trying while the page is open and the item is in front. */
  async flush() {
    clearTimeout(this.timer)
    if (!this.pending || this.closed) return
    this.pending = false
    const body = { base: this.base, steps: this.steps, comment: this.comment }
    try {
      const { at } = await postJSON(`/api/item/${this.itemId}/autosave`, body)
      this.unheard = false
      this.on.onSaved(at)
    } catch (error) {
      this.pending = true
      this.unheard = error instanceof Unreachable
      this.on.onUnsaved(error)
      if (error instanceof Unreachable) this.timer = setTimeout(() => this.flush(), 3000)
    }
  }

  /** After its text became a version there is nothing unsent left. */
  close() {
    this.closed = true
    clearTimeout(this.timer)
  }
}
