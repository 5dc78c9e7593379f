// The time that a person works on each item: from opening it to the decision, and without pauses.

const LONGEST_PAUSE = 120_000 // ms without mouse or keyboard; a longer pause does not count
const INTERVAL = 1000 // ms; more frequent events are ignored
const ACTIVITY = ['pointermove', 'pointerdown', 'keydown', 'wheel', 'scroll', 'input']

export class WorkTime {
  /**
   * By item, in ms: when it was opened, and the active time since; one left without a decision continues later.
   * @type {Map<number, {opened: number, active: number}>}
   */
  #times = new Map()
  /** @type {number | null} */
  #item = null
  /** @type {number | null} the last activity; null while the item is not visible */
  #last = null

  /**
   * @param {import('./state.js').ReviewState} state
   * @param {() => boolean} isVisible whether the item is on the screen
   */
  constructor(state, isVisible) {
    this.isVisible = isVisible
    state.on('item', () => this.#show(state.item?.id ?? null))
    for (const kind of ACTIVITY) addEventListener(kind, () => this.#active(), { capture: true, passive: true })
    document.addEventListener('visibilitychange', () => this.#active(0))
  }

  /** An item is shown; null: none is. @param {number | null} id */
  #show(id) {
    if (id === this.#item) return
    this.#active(0)
    this.#item = id
    const now = Date.now()
    if (id !== null && !this.#times.has(id)) this.#times.set(id, { opened: now, active: 0 })
    this.#last = this.#isWatched() ? now : null
  }

  /** The time spent on an item until now, in seconds; undefined where it was not opened. @param {number} id */
  spent(id) {
    if (id === this.#item) this.#active(0)
    const times = this.#times.get(id)
    if (!times) return undefined
    const elapsed = Math.max(0, Date.now() - times.opened) / 1000
    return { elapsed, active: Math.min(elapsed, times.active / 1000) }
  }

  /** The item is decided: the next round begins at 0. @param {number} id */
  decided(id) {
    this.#times.delete(id)
    if (id === this.#item) this.#item = this.#last = null
  }

  #isWatched() {
    return !document.hidden && this.isVisible()
  }

  /** Add the time since the last activity, if that is at least so many ms ago. */
  #active(interval = INTERVAL) {
    const now = Date.now()
    if (this.#last !== null && now - this.#last < interval) return
    const times = this.#item === null ? undefined : this.#times.get(this.#item)
    const since = now - (this.#last ?? now)
    if (times && since > 0 && since <= LONGEST_PAUSE) times.active += since
    this.#last = times && this.#isWatched() ? now : null
  }
}
