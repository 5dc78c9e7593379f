// What can be done with one row: one menu that opens next to the row's button.

import { fill, h } from '../common/dom.js'
import { Keys } from '../common/keys.js'
import { t } from '../common/language.js'
import { menuButton } from '../common/popover.js'

export class RowMenu {
  /** @type {HTMLElement | null} */
  #button = null

  /** @param {import('./find.js').FindDesk} desk */
  constructor(desk) {
    this.desk = desk
    this.root = h('div.so-menu.row-menu-sheet', { role: 'menu', popover: 'auto', 'aria-label': t('Actions') })
    this.root.addEventListener('keydown', (event) => this.#press(event))
  }

  /** @param {import('./rows.js').FoundRow} row @param {HTMLElement} button */
  open({ id, spectrum }, button) {
    this.#button = button
    const { related, results } = this.desk
    /** @param {string} label @param {string} key @param {() => void} act */
    const entry = (label, key, act, disabled = false) => {
      const onClick = () => {
        this.#close()
        act()
      }
      return menuButton(label, key, { role: 'menuitem', tabIndex: -1, disabled, onClick })
    }
    const bySpectrum = () => related.showSimilar(id, 'spectrum')
    fill(
      this.root,
      entry(t('Similar text'), Keys.of('similar-text'), () => related.showSimilar(id, 'text')),
      entry(t('Similar spectrum'), Keys.of('similar-spectrum'), bySpectrum, spectrum === null),
      entry(t('More like this'), '', () => related.showRanking([id])),
      entry(t('Open in Review'), Keys.of('open'), () => results.open(id)),
      entry(t('Open in a new browser tab'), Keys.of('open-new'), () => results.open(id, true)),
    )
    this.root.showPopover()
    const { right, bottom, top } = button.getBoundingClientRect()
    const below = bottom + this.root.offsetHeight + 8 < innerHeight
    this.root.style.left = `${Math.max(8, right - this.root.offsetWidth)}px`
    this.root.style.top = `${below ? bottom + 2 : Math.max(8, top - this.root.offsetHeight - 2)}px`
    this.#entries[0]?.focus()
  }

  get #entries() {
    return /** @type {HTMLButtonElement[]} */ ([...this.root.querySelectorAll('.entry:not(:disabled)')])
  }

  #close() {
    this.root.hidePopover()
    this.#button?.focus()
  }

  /** @param {KeyboardEvent} event */
  #press(event) {
    event.stopPropagation() // no key of the tab behind acts while the menu is open
    const entries = this.#entries
    const at = entries.indexOf(/** @type {HTMLButtonElement} */ (document.activeElement))
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 }[event.key]
    if (event.key === 'Tab') return this.#close() // the browser moves the focus on from the button
    if (event.key === 'Escape') this.#close()
    else if (to !== undefined) entries.at(to % entries.length)?.focus()
    else return
    event.preventDefault()
  }
}
