// The selected items: some by number, or all of a filter without some; and the bar that counts them.

import { h } from '../common/dom.js'
import { bodyOf } from '../common/filters.js'
import { number } from '../common/format.js'
import { t, tn } from '../common/language.js'

/** @typedef {{items: number[]} | {filter: Record<string, any>, without: number[]}} SelectionBody as it is sent */

/** @typedef {{total: number, orMore: boolean}} Counted how many items are found; `orMore`: at least */

/** A number of items in words. @param {Counted} counted */
export const countOf = ({ total, orMore }) => (orMore ? t('{n} or more', { n: number(total) }) : number(total))

/** Dispatches "change". */
export class Selection extends EventTarget {
  /** @type {Set<number>} the selected items; where a filter is selected, those left out */
  #items = new Set()
  /** @type {{filter: import('../common/filters.js').Filter, total: number, orMore: boolean} | null} */
  #all = null
  /** @type {number | null} the item from which a range begins */
  #anchor = null

  get count() {
    return this.#all ? Math.max(0, this.#all.total - this.#items.size) : this.#items.size
  }

  /** Whether more than ``count`` may be selected: the items of a search are counted up to a limit. */
  get orMore() {
    return this.#all?.orMore ?? false
  }

  /** Whether all items of a filter are selected, or all but some. */
  get isFilter() {
    return this.#all !== null
  }

  /** The selected items by number; of a filter, nothing. */
  get items() {
    return this.#all ? [] : this.#sorted
  }

  get #sorted() {
    return [...this.#items].sort((a, b) => a - b)
  }

  /** @param {number} id */
  has(id) {
    return this.#items.has(id) !== this.isFilter
  }

  /** @param {number} id */
  toggle(id) {
    this.#anchor = id
    this.set([id], !this.has(id))
  }

  /** Select or leave out these. @param {number[]} ids @param {boolean} selected */
  set(ids, selected) {
    for (const id of ids) {
      if (selected !== this.isFilter) this.#items.add(id)
      else this.#items.delete(id)
    }
    this.#changed()
  }

  /**
   * Select from the last one that was selected to this one.
   * @param {number[]} ids in the order shown @param {number} id
   */
  range(ids, id) {
    const [from, to] = [ids.indexOf(this.#anchor ?? id), ids.indexOf(id)]
    this.#anchor = id
    this.set(from < 0 ? [id] : ids.slice(Math.min(from, to), Math.max(from, to) + 1), true)
  }

  /** Select all items of a filter. @param {import('../common/filters.js').Filter} filter @param {Counted} counted */
  useFilter(filter, counted) {
    this.#items.clear()
    this.#all = { filter, ...counted }
    this.#changed()
  }

  /** The number of items of the selected filter has changed. @param {Counted} counted */
  setTotal(counted) {
    if (!this.#all || this.#all.total === counted.total) return
    Object.assign(this.#all, counted)
    this.#changed()
  }

  clear() {
    if (!this.#items.size && !this.#all) return
    this.#items.clear()
    this.#all = null
    this.#anchor = null
    this.#changed()
  }

  /** @returns {SelectionBody} */
  body() {
    return this.#all ? { filter: bodyOf(this.#all.filter), without: this.#sorted } : { items: this.#sorted }
  }

  #changed() {
    this.dispatchEvent(new Event('change'))
  }
}

/**
 * A button of the bar; `most`: items of the selection
 * @typedef {{name: string, label: string, title: string, most?: number, act: () => void}} Action
 */

/** How many items are selected, how to select more, and what can be done with them. */
export class SelectionBar {
  /**
   * @param {Selection} selection @param {Action[]} actions
   * @param {{onAll: () => void, onShown: () => void}} callbacks
   */
  constructor(selection, actions, { onAll, onShown }) {
    this.selection = selection
    this.total = 0
    this.shown = 0
    this.orMore = false
    this.count = h('strong', { role: 'status' })
    this.here = h('button.link', { onClick: onShown })
    this.all = h('button.link', { onClick: onAll })
    this.none = h('button.link', { onClick: () => selection.clear() }, t('clear'))
    this.buttons = actions.map(({ name, label, title, most, act }) => {
      const props = { title, 'data-action': name, onClick: act }
      return { most, button: h(name === 'reject' ? 'button.danger' : 'button', props, label) }
    })
    this.root = h(
      'div.selection-bar',
      { role: 'group', 'aria-label': t('Selection') },
      h('span.counts', this.count, this.here, this.all, this.none),
      h('span.actions', ...this.buttons.map(({ button }) => button)),
    )
    selection.addEventListener('change', () => this.#draw())
    this.#draw()
  }

  /** What can be selected. @param {Counted & {shown: number}} found */
  show({ total, shown, orMore }) {
    Object.assign(this, { total, shown, orMore })
    this.#draw()
  }

  #draw() {
    const { selection, total, shown } = this
    const { count } = selection
    this.count.textContent = count
      ? tn('{n} selected', '{n} selected', count, { n: selectedCount(selection) })
      : t('Nothing selected')
    this.root.classList.toggle('some', count > 0)
    const isAll = selection.isFilter && count === total
    this.here.hidden = !shown || shown === total || selection.isFilter
    this.here.textContent = tn('select this {n}', 'select these {n}', shown, { n: number(shown) })
    this.all.hidden = !total || isAll || (count === total && !selection.isFilter)
    const all = countOf(this)
    this.all.textContent = tn('select the one that matches', 'select all {n} that match', total, { n: all })
    this.none.hidden = !count
    for (const { most, button } of this.buttons)
      button.disabled = !count || (most !== undefined && (count > most || selection.isFilter))
  }
}

/** How many items are selected. @param {Selection} selection */
export const selectedCount = ({ count, orMore }) => countOf({ total: count, orMore })

/** A short text for a selection, e.g. of a dialog. @param {Selection} selection */
export const selectionWords = (selection) =>
  tn('{n} selected item', '{n} selected items', selection.count, { n: selectedCount(selection) })

/** Numbers of items as a list in one line. @param {number[]} items @param {number} total @param {number} [most] */
export function numbersOf(items, total, most = 12) {
  const link = (id, at) => [at > 0 && ', ', h('a', { href: `#item=${id}`, target: '_blank' }, String(id))]
  return [...items.slice(0, most).map(link), total > Math.min(items.length, most) && ', …']
}
