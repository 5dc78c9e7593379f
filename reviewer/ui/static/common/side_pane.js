// The left pane of a desk (queue or bench): a column of the page, or, where the page is narrow, a drawer over the desk.

import { cap, h } from './dom.js'
import { panelIsOpen } from './panels.js'

const FOCUSABLE = 'button, input, select, a[href], [tabindex="0"]'

export class SidePane {
  /**
   * @param {HTMLElement} root the desk
   * @param {HTMLElement} pane
   * @param {{id: string, name: string, title: string, key: string, onColumn?: (hidden: boolean) => void}} options
   *   `title`: of the button; `onColumn`: the person has hidden or shown the column
   */
  constructor(root, pane, { id, name, title, key, onColumn }) {
    this.root = root
    this.pane = pane
    this.onColumn = onColumn
    pane.id = `so-${id}`
    pane.setAttribute('aria-label', name)
    this.button = h(
      'button.open-queue',
      { 'aria-expanded': 'false', 'aria-controls': pane.id, title, onClick: () => this.toggle() },
      name,
      ' ',
      cap(key),
    )
    document.addEventListener('pointerdown', ({ target }) => {
      const outside = target instanceof Node && !pane.contains(target) && !this.button.contains(target)
      if (outside && !panelIsOpen()) this.close({ refocus: false })
    })
    root.addEventListener(
      'keydown',
      (event) => {
        if (event.key !== 'Escape' || !this.isOpen || panelIsOpen()) return
        event.stopPropagation()
        event.preventDefault()
        this.close()
      },
      { capture: true },
    )
  }

  /** Whether the style sheet makes the pane a drawer at the present size of the page. */
  get isDrawer() {
    return getComputedStyle(this.root).getPropertyValue('--so-queue').trim() === 'drawer'
  }

  /** Whether the drawer is open. */
  get isOpen() {
    return this.root.classList.contains('queue-open')
  }

  /** Show the pane if it is a drawer that is closed. */
  show() {
    if (this.isDrawer && !this.isOpen) this.#open()
  }

  toggle() {
    if (this.isOpen) this.close()
    else if (this.isDrawer) this.#open()
    else {
      const hidden = this.root.classList.toggle('no-queue')
      this.onColumn?.(hidden)
    }
  }

  #open() {
    this.root.classList.add('queue-open')
    this.button.setAttribute('aria-expanded', 'true')
    this.#focusFirst()
    this.pane.querySelector('.current')?.scrollIntoView({ block: 'nearest' })
  }

  /** Close the drawer, e.g. after a row was chosen. */
  close({ refocus = true } = {}) {
    if (!this.isOpen) return
    const inside = this.pane.contains(document.activeElement)
    this.root.classList.remove('queue-open')
    this.button.setAttribute('aria-expanded', 'false')
    if (refocus && inside) this.#focusFirst(this.button)
  }

  /** Focus the first control of the pane that is visible. @param {HTMLElement[]} before those before the pane */
  #focusFirst(...before) {
    const all = [...before, .../** @type {NodeListOf<HTMLElement>} */ (this.pane.querySelectorAll(FOCUSABLE))]
    all.find((element) => element.checkVisibility())?.focus()
  }
}
