// The drawer beside the steps: the lines of the class, plots of indices, the ranking of templates, the nearest approved
// spectra, what catalogues know, and panes of the desk: the guide, the person's inspection.
// It fetches only what is on the screen, after the item has been painted.

import { lasting } from '../common/browser_storage.js'
import { cap, fill, h } from '../common/dom.js'
import { idle, painted, pause } from '../common/idle.js'
import { Keys } from '../common/keys.js'
import { t } from '../common/language.js'

const SETTLE = 120 // ms that an item has to stay before its evidence is fetched: next may be held down

/** @type {Record<string, {title: string, load: () => Promise<any>}>} each module exports `draw(aids)` */
const PANES = {
  lines: { title: t('Lines'), load: () => import('./lines.js') },
  loci: { title: t('Loci'), load: () => import('./loci.js') },
  templates: { title: t('Templates'), load: () => import('./templates.js') },
  similar: { title: t('Similar'), load: () => import('./similar.js') },
  sky: { title: t('Sky'), load: () => import('./sky.js') },
}

/**
 * @typedef {Object} EvidenceOptions
 * @property {import('./aids.js').Aids} aids
 * @property {string} name of the desk, "review" or "live"
 * @property {string[]} panes names of `PANES`
 * @property {Record<string, {title: string, draw: () => HTMLElement | null}>} own further panes, by name; null: the
 *   item has none
 * @property {HTMLElement} button by `Evidence.button`
 */

export class Evidence {
  #ticket = 0

  /** @param {EvidenceOptions} options */
  constructor({ aids, name: desk, panes: measured, own, button }) {
    this.stored = `so-evidence-${desk}`
    const stored = lasting.read(this.stored) ?? {}
    const panes = [...measured, ...Object.keys(own)]
    this.own = own
    this.aids = aids
    /** @type {HTMLElement | null} */
    this.desk = null
    this.isOpen = Boolean(stored.open)
    this.pane = panes.includes(stored.pane) ? stored.pane : panes[0]
    /** @type {() => void} of the pane that is drawn */
    this.leave = () => {}
    const id = `so-${desk}-evidence`
    this.tabs = panes.map((name) => {
      const press = { onclick: () => this.choose(name), onkeydown: (event) => this.#key(event) }
      const props = { role: 'tab', id: `${id}-${name}`, 'data-pane': name, 'aria-controls': id, ...press }
      return h('button.tab', props, (PANES[name] ?? own[name]).title)
    })
    this.body = h('div.pane', { id, role: 'tabpanel', tabIndex: 0 })
    const title = t('Close ({key})', { key: Keys.of('evidence') })
    const onclick = () => this.toggle()
    const close = h('button.close', { title, 'aria-label': t('Close the evidence'), onclick }, '×')
    const label = { 'aria-label': t('Evidence') }
    const header = h('header', h('div.tabs', { role: 'tablist', ...label }, this.tabs), close)
    this.root = h('aside.evidence', label, header, this.body)
    this.button = button
    button.addEventListener('click', onclick)
    this.#drawTabs()
  }

  /** The button that opens and closes the panel, for the toolbar of the plots. */
  static button = () =>
    h(
      'button.so-button.evidence-button',
      { title: t('Lines, plots of indices, templates, similar spectra and catalogues') },
      t('Evidence'),
      ' ',
      cap(Keys.of('evidence')),
    )

  /** Belong to a desk, in whose grid the panel has a place. @param {HTMLElement} desk */
  placeIn(desk) {
    this.desk = desk
    this.#drawTabs()
  }

  /** Show a pane; if it is shown already, close the drawer. @param {string} name @returns {Promise<void>} */
  async show(name) {
    if (this.isOpen && this.pane === name) return this.toggle()
    if (!this.isOpen) this.toggle()
    await this.choose(name)
    const first = this.body.querySelector('input:checked') ?? this.body.querySelector('input:not(.sky-pane *), select')
    if (first instanceof HTMLElement) first.focus()
    else this.body.focus()
  }

  toggle() {
    this.isOpen = !this.isOpen
    this.#drawTabs()
    this.#remember()
    this.update()
  }

  /** Another item is shown, or the item has changed: what is drawn no longer belongs to it. */
  async update() {
    const ticket = ++this.#ticket
    if (!this.isOpen || !this.desk?.getClientRects().length) return
    if (this.own[this.pane]) return this.#draw(ticket)
    this.body.setAttribute('aria-busy', 'true')
    this.body.inert = true // what is shown belongs to the item before
    await painted()
    if (ticket === this.#ticket) this.#put(h('p.muted', t('measuring …')))
    await pause(SETTLE)
    await idle()
    if (ticket === this.#ticket) await this.#draw(ticket)
  }

  /** @param {string} name of a pane */
  async choose(name) {
    this.pane = name
    this.#drawTabs()
    this.#remember()
    const ticket = ++this.#ticket
    if (!this.own[name]) this.#put(h('p.muted', t('measuring …')))
    await this.#draw(ticket)
  }

  /** @param {number} ticket */
  async #draw(ticket) {
    const own = this.own[this.pane]
    if (own) return this.#put(own.draw() ?? h('p.muted', t('No item is shown.')))
    if (!this.aids.subject) return this.#put(h('p.muted', t('This item has no spectrum.')))
    let drawn
    try {
      const { draw } = await PANES[this.pane].load()
      drawn = await draw(this.aids)
    } catch (error) {
      drawn = { element: h('p.look', error.message) }
    }
    if (ticket !== this.#ticket) return drawn.leave?.()
    this.#put(drawn.element)
    this.leave = drawn.leave ?? (() => {})
    drawn.placed?.()
  }

  /** @param {Node} element */
  #put(element) {
    this.leave()
    this.leave = () => {}
    this.body.removeAttribute('aria-busy')
    this.body.inert = false
    this.body.scrollTop = 0
    fill(this.body, element)
  }

  #drawTabs() {
    for (const tab of this.tabs) {
      const selected = tab.dataset.pane === this.pane
      tab.setAttribute('aria-selected', String(selected))
      tab.tabIndex = selected ? 0 : -1
      if (selected) this.body.setAttribute('aria-labelledby', tab.id)
    }
    this.root.hidden = !this.isOpen
    this.desk?.classList.toggle('with-evidence', this.isOpen)
    this.button.setAttribute('aria-expanded', String(this.isOpen))
    this.button.setAttribute('aria-pressed', String(this.isOpen))
  }

  #remember() {
    lasting.set(this.stored, JSON.stringify({ open: this.isOpen, pane: this.pane }))
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    const by = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
    if (!by || event.ctrlKey || event.altKey || event.metaKey) return
    event.preventDefault()
    event.stopPropagation()
    const at = this.tabs.findIndex((tab) => tab.dataset.pane === this.pane)
    const to = this.tabs[(at + by + this.tabs.length) % this.tabs.length]
    to.focus()
    this.choose(/** @type {string} */ (to.dataset.pane))
  }
}
