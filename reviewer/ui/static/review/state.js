// The state of the Review tab: the list the person goes through, the item shown, the text being edited, and what later
// decisions need. Other modules read it, change it through its methods, and listen to its events.

import { lasting } from '../common/browser_storage.js'
import { queryOf } from '../common/filters.js'
import { newKey } from '../common/http.js'
import { t } from '../common/language.js'

const FILTER = 'so-filter'
const VERDICT_FIRST = 'so-verdict-first'
const MOST_PICTURES = 20

/**
 * @typedef {LoadedItem & {hints: Record<string, Hint[] | undefined>, place: Place | null, ahead: number[],
 *   others: OtherTrace[]}} Current  `ahead`: the next items as far as known before the server has sent `place`;
 *   `others`: other traces of the spectrum, as far as known
 */

/**
 * The events, with what `on` gives to their handlers.
 * @typedef {Object} StateEvents
 * @property {{sameItem: boolean}} item another item is shown, its present state, or (no `current`) none
 * @property {void} version an earlier version of the item is shown, or the current one again
 * @property {{before: Step[], inCard: boolean}} steps the steps of the draft changed; `inCard`: the card where they
 *   were edited shows them already
 * @property {Opening} opening what the server knows of the item shown has come, newer than the page's
 * @property {Checks} checks what the data say about the version shown has come
 * @property {Place} place of the item shown in the list
 * @property {void} round the person has seen that the item is in another round
 * @property {{message: string}} refused the item shown cannot be leased
 * @property {{item: Item}} outdated `item`, which is shown, has changed on the server
 * @property {{id: number, change: Partial<QueueRow>, listed?: boolean}} changed this page has changed an item on the
 *   server; `listed`: whether it is still in the list, where the answer said so
 * @property {{id: number}} read the person has read the comments of an item
 * @property {{stamp: number}} stamp the number that grows with every change on the server, as it was answered
 * @property {void} filter another list is gone through
 * @property {void} verdict-first answers are hidden until the person has given a verdict, or no longer
 */

/**
 * What views call for what the person does, `about` e.g. a step; false where the action leaves its key to the browser.
 * @typedef {(action: string, ...about: any[]) => boolean | void} Act
 */

export class ReviewState extends EventTarget {
  /** @param {Person} me */
  constructor(me) {
    super()
    this.me = me
    /** Whether answers are hidden until the person has given a verdict. */
    this.verdictFirst = lasting.get(VERDICT_FIRST) === 'yes'
    /** @type {Record<string, string>} of the queue */
    this.filter = lasting.read(FILTER) ?? { mine: 'true' }
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
    /** @type {Map<string, string>} pictures that came with the tool's answer: fetched by name they would come later */
    this.pictures = new Map()
  }

  /** @template {keyof StateEvents} Name @param {Name} name @param {(detail: StateEvents[Name]) => void} handler */
  on(name, handler) {
    this.addEventListener(name, (event) => handler(/** @type {CustomEvent} */ (event).detail))
  }

  /** @template {keyof StateEvents} Name @param {Name} name @param {StateEvents[Name]} detail */
  dispatch(name, detail) {
    this.dispatchEvent(new CustomEvent(name, { detail }))
  }

  /** The list as a query string: filter and "verdict first"; the order of the items is no part of it. */
  get query() {
    const filter = queryOf(this.filter)
    return this.verdictFirst ? [filter, 'verdict_first=true'].filter(Boolean).join('&') : filter
  }

  /** @param {Record<string, string>} filter */
  setFilter(filter) {
    this.filter = filter
    lasting.set(FILTER, JSON.stringify(filter))
    // What was known of the next items no longer holds.
    if (this.current) Object.assign(this.current, { place: null, ahead: [] })
    this.dispatch('filter', undefined)
  }

  /** @param {boolean} on */
  setVerdictFirst(on) {
    this.verdictFirst = on
    lasting.set(VERDICT_FIRST, on ? 'yes' : 'no')
    this.dispatch('verdict-first', undefined)
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

  /**
   * Take an item as the one shown. The caller gives it a draft and then dispatches "item".
   * @param {LoadedItem} loaded @param {boolean} sameItem whether it is the item shown before, in its present state
   * @param {Reading | null} [reading] an earlier version
   */
  setCurrent(loaded, sameItem, reading = null) {
    const before = this.current
    if (!sameItem) this.visit += 1
    this.#noteRound(before?.item, loaded.item)
    const { hints = {}, place = null } = sameItem && before ? before : {}
    const { others } = loaded.opening
    if (reading || !sameItem) this.reading = reading
    else if (this.reading) this.reading = { ...this.reading, of: loaded.item.version.number }
    this.current = { ...loaded, hints, place, others, ahead: this.#aheadOf(loaded) }
    this.decisionKey = newKey()
  }

  /** The server's newer knowledge of the item shown. @param {Opening} opening */
  arrive(opening) {
    if (this.current) this.current.others = opening.others
    this.dispatch('opening', opening)
  }

  /** @param {Place} place of the item shown */
  setPlace(place) {
    if (this.current) this.current.place = place
    this.dispatch('place', place)
  }

  /** Show an earlier version of the item; null: the current one. @param {Reading | null} reading */
  read(reading) {
    this.reading = reading
    this.dispatch('version', undefined)
  }

  /** The person has seen that the item is in another round: they said so, or did something with it. */
  seeRound() {
    if (!this.newRound) return
    this.newRound = ''
    this.dispatch('round', undefined)
  }

  /**
   * This page has changed an item on the server.
   * @param {number} id @param {Partial<QueueRow>} [change] @param {boolean} [listed] whether it is still in the list
   */
  itemChanged(id, change = {}, listed = undefined) {
    this.dispatch('changed', { id, change, listed })
  }

  /** Keep a picture that came with an answer of the tool. @param {string} name @param {string} png in base64 */
  keepPicture(name, png) {
    this.pictures.set(name, `data:image/png;base64,${png}`)
    const [oldest] = this.pictures.keys()
    if (this.pictures.size > MOST_PICTURES) this.pictures.delete(oldest)
  }

  /**
   * The same key means another decision in another round. So where the item in front comes into one, the person first
   * has to see that.
   * @param {Item | undefined} before @param {Item} after
   */
  #noteRound(before, after) {
    const { round } = after.standing
    const stays = before?.id === after.id && this.undone !== after.id
    this.undone = null
    if (!stays || after.hidden) this.newRound = ''
    else if (before.standing.round !== round) this.newRound = round ?? ''
  }

  /** No item is left in the list. */
  clear() {
    this.newRound = ''
    this.current = this.draft = this.reading = null
    this.dispatch('item', { sameItem: false })
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
    this.dispatch('steps', { before, inCard: field !== null })
  }

  /**
   * Undo the last change of the steps, or make the change again that was undone last; false where there is none.
   * @param {'undo' | 'redo'} what
   */
  restoreSteps(what) {
    const { draft } = this
    if (!draft || !this.editable) return false
    const before = draft.steps
    if (!draft[what]()) return false
    this.dispatch('steps', { before, inCard: false })
    return true
  }

  /**
   * The next items: those after this one as they were known at the item before, else when this one was fetched.
   * @param {LoadedItem} loaded @returns {number[]}
   */
  #aheadOf({ item: { id }, opening, query }) {
    const known = this.current?.place?.next ?? this.current?.ahead ?? []
    const after = known.includes(id) ? known.slice(known.indexOf(id) + 1) : []
    const byNumber = query === this.query && this.filter.order !== 'value'
    return after.length || !byNumber ? after : opening.place.next
  }
}
