// What can be done with one row: one menu that opens next to the row's button.

import { fill, h } from '../common/dom.js'
import { Keys } from '../common/keys.js'
import { t } from '../common/language.js'
import { menuButton, menuKeys } from '../common/popover.js'

export class RowMenu {
  /** @param {{related: import('./related.js').Related, results: import('./results.js').Results}} desk */
  constructor(desk) {
    this.desk = desk
    this.root = h('div.so-menu.row-menu-sheet', { role: 'menu', popover: 'auto', 'aria-label': t('Actions') })
    menuKeys(this.root)
  }

  /** @param {import('./rows.js').FoundRow} row @param {HTMLElement} button */
  open({ id, spectrum }, button) {
    const { related, results } = this.desk
    /** @param {string} label @param {string} key @param {() => void} act */
    const entry = (label, key, act, disabled = false) => {
      const onClick = () => {
        this.root.hidePopover()
        button.focus()
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
    this.root.querySelector('.entry')?.focus()
  }
}
