// The runs of the spectrum in front, newest first: a tab for each, and what can be done with the one shown.

import { cap, fill, h } from '../common/dom.js'
import { t } from '../common/language.js'
import { runLabel, runTitle, runTone } from './labels.js'

export class RunTabs {
  /** @type {Map<string, HTMLElement>} the tabs by run */
  #tabs = new Map()
  #drawn = ''
  /** @type {string[]} runs in the order of the tabs */
  order = []

  /**
   * @param {{keys: import('../common/keys.js').Keys, compare: HTMLElement, titleOf: (policy: string) => string,
   *   tasks: Record<string, TaskText>, onShow: (run: string) => void, onRemove: (run: string) => void}} options
   *   `compare`: the button that shows a second trace
   */
  constructor(options) {
    this.on = options
    this.list = h('div.run-list', { role: 'tablist', 'aria-label': t('Runs of this spectrum, newest first') })
    const onClick = () => this.shown && this.on.onRemove(this.shown)
    const props = { title: t('Remove the run shown'), onClick }
    const remove = h('button.remove-run', props, t('Remove'), ' ', cap(options.keys.of('remove-run')))
    this.root = h('div.runs', { hidden: true }, this.list, h('div.run-actions', options.compare, remove))
    /** @type {string | null} */
    this.shown = null
  }

  /**
   * Draw the tabs; one that stays keeps its element, so that a click while a run grows is not lost.
   * @param {RunSummary[]} results oldest first @param {string | null} shown the run shown
   */
  draw(results, shown) {
    const { tasks, titleOf } = this.on
    const key = JSON.stringify([results, shown])
    if (key === this.#drawn) return
    this.#drawn = key
    this.shown = shown
    const newestFirst = results.toReversed()
    const withQuestion = new Set(results.map(({ task }) => task)).size > 1
    this.root.hidden = !results.length
    for (const result of newestFirst) {
      const tab = this.#tab(result.run)
      const question = tasks[result.task]?.title ?? result.task
      const selected = result.run === shown
      tab.className = ['run-tab', runTone(result)].filter(Boolean).join(' ')
      tab.setAttribute('aria-selected', String(selected))
      tab.tabIndex = selected || (shown === null && result === newestFirst[0]) ? 0 : -1
      tab.title = runTitle(result, titleOf(result.policy), question)
      const label = runLabel(result, titleOf(result.policy), withQuestion ? question : '')
      fill(tab, result.state === 'running' || result.onTrial ? [h('span.spinner'), ' '] : null, h('span', label))
    }
    const order = newestFirst.map(({ run }) => run)
    if (order.join() !== this.order.join()) {
      this.order = order
      for (const run of this.#tabs.keys()) if (!order.includes(run)) this.#tabs.delete(run)
      const focused = document.activeElement
      this.list.replaceChildren(...order.map((run) => this.#tab(run)))
      if (focused instanceof HTMLElement && this.list.contains(focused)) focused.focus()
    }
    this.#tabs.get(shown ?? '')?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  }

  /** @param {string} run */
  #tab(run) {
    const known = this.#tabs.get(run)
    if (known) return known
    const tab = h('button.run-tab', {
      role: 'tab',
      'data-run': run,
      onClick: () => this.on.onShow(run),
      onKeydown: (/** @type {KeyboardEvent} */ event) => this.#move(event, run),
    })
    this.#tabs.set(run, tab)
    return tab
  }

  /** The arrow keys move between tabs while one has the focus. @param {KeyboardEvent} event @param {string} run */
  #move(event, run) {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
    const to = by && this.order[this.order.indexOf(run) + by]
    if (!by) return
    event.preventDefault()
    event.stopPropagation()
    if (!to) return
    this.#tabs.get(to)?.focus()
    this.on.onShow(to)
  }
}
