// The state of the Review tab: the item shown, the text being edited, and what later decisions need. Other modules read
// it, change it through its methods, and listen to its events.

import { newKey } from '../common/http.js'
import { t } from '../common/language.js'

/**
 * @typedef {LoadedItem & {
 *   hints: Record<string, Hint[] | undefined>,
 *   place: Place | null,
 *   ahead: number[],
 *   others: OtherTrace[],
 * }} Current  `ahead`: the next items as far as known before the server has sent `place`; `others`: other traces of the
 *   spectrum, as far as known
 */

/**
 * Events: "steps" after the steps of the draft changed; `detail.before` holds the earlier steps, `detail.inCard` is
 * true when the card where they were edited shows them already.
 */
export class ReviewState extends EventTarget {
  /** @param {Person} me @param {boolean} verdictFirst */
  constructor(me, verdictFirst) {
    super()
    this.me = me
    this.verdictFirst = verdictFirst
    /** @type {Current | null} */
    this.current = null
    /** @type {Reading | null} an earlier version that is shown in place of the current one, to read only */
    this.reading = null
    /** @type {import('./drafts.js').Draft | null} */
    this.draft = null
    /** The idempotency key of the next decision on the item shown. */
    this.decisionKey = ''
    /** @type {{id: number, name: string} | null} the item of the last decision, which can be undone */
    this.lastDecided = null
    /** How many items were opened; the same number: the person has stayed at the item. */
    this.visit = 0
    /** The round that the item shown has come into while it was in front; "": it has not, or the person has seen it. */
    this.newRound = ''
    /** @type {number | null} the item whose decision was just undone: the person expects it in its earlier round */
    this.undone = null
  }

  get item() {
    return this.current?.item ?? null
  }

  get steps() {
    return this.draft?.steps ?? []
  }

  /** Whether this person may edit the steps now. */
  get editable() {
    return this.current !== null && this.editRefusal === null
  }

  /** Why this person may not edit the steps now; null: they may. */
  get editRefusal() {
    if (!this.reading) return this.current?.item.may.edit ?? null
    return t('You are reading version {version}. Show the current version first.', { version: this.reading.number })
  }

  get dirty() {
    return this.draft?.dirty ?? false
  }

  /** @param {number} id */
  isShown(id) {
    return this.current?.item.id === id
  }

  /** @param {string | null | undefined} id @returns {Step | undefined} */
  step(id) {
    return this.steps.find((step) => step.id === id)
  }

  /** The number of a step as people see it. @param {string} id */
  numberOf(id) {
    return this.steps.findIndex((step) => step.id === id) + 1 || id
  }

  /** @param {LoadedItem} loaded @param {boolean} sameItem whether it is the item shown before, in its present state */
  setCurrent(loaded, sameItem) {
    const before = this.current
    if (!sameItem) this.visit += 1
    this.#noteRound(before?.item, loaded.item)
    const { hints = {}, place = null, others = [] } = sameItem && before ? before : {}
    this.reading = sameItem && this.reading ? { ...this.reading, of: loaded.item.version.number } : null
    this.current = { ...loaded, hints, place, others, ahead: this.#aheadOf(loaded.item.id) }
    this.decisionKey = newKey()
  }

  /**
   * The same key means another decision in another round. So where the item in front comes into one, the person first
   * has to see that.
   * @param {Item | undefined} before @param {Item} after
   */
  #noteRound(before, after) {
    const { round } = after.standing
    const stays = before?.id === after.id
    const undone = this.undone === after.id
    this.undone = null
    if (!stays || undone || after.hidden) this.newRound = ''
    else if (before.standing.round !== round) this.newRound = round ?? ''
  }

  clear() {
    this.newRound = ''
    this.current = this.draft = this.reading = null
  }

  /** The filter changed: what was known of the next items no longer holds. */
  forgetPlace() {
    if (this.current) Object.assign(this.current, { place: null, ahead: [] })
  }

  /**
   * @param {Step[]} steps
   * @param {{field?: string | null, group?: string | null}} options `field`: the step whose card shows the change
   *   already; `group`: changes of one group, one after the other, are undone together
   */
  changeSteps(steps, { field = null, group = field } = {}) {
    const { draft } = this
    if (!draft || steps === draft.steps) return
    const before = draft.steps
    draft.change(steps, group)
    this.#stepsChanged(before, field !== null)
  }

  /** Undo the last change of the steps; false where there is none. */
  undoSteps() {
    return this.#restoreSteps((draft) => draft.undo())
  }

  /** Make the change again that was undone last; false where there is none. */
  redoSteps() {
    return this.#restoreSteps((draft) => draft.redo())
  }

  /** @param {(draft: import('./drafts.js').Draft) => boolean} restore */
  #restoreSteps(restore) {
    const { draft } = this
    if (!draft || !this.editable) return false
    const before = draft.steps
    if (!restore(draft)) return false
    this.#stepsChanged(before, false)
    return true
  }

  /** @param {Step[]} before @param {boolean} inCard */
  #stepsChanged(before, inCard) {
    this.dispatchEvent(new CustomEvent('steps', { detail: { before, inCard } }))
  }

  /** @param {number} id @returns {number[]} */
  #aheadOf(id) {
    const known = this.current?.place?.next ?? this.current?.ahead ?? []
    return known.includes(id) ? known.slice(known.indexOf(id) + 1) : []
  }
}
