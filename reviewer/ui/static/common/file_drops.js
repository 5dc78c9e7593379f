// Files dropped outside the boxes for files: the browser would open them in place of the page, and unsent text would
// be lost. The page says where files belong instead.

import { h } from './dom.js'
import { t } from './language.js'

const WHERE = t(
  'Drop files into a box of the Library tab (“Survey files” to draft them, “Rows, pictures, spectra” to import ' +
    'trajectories), or anywhere on the Live tab to inspect them there.',
)
const SHOWN = 8000 // ms after the last movement of the file

/** Keep the page when a file is dropped anywhere on it. Boxes that accept files do so themselves, before this. */
export function keepPageOnDrop() {
  const hint = h('p.so-drop-hint', { role: 'status' })
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer
  document.body.append(hint)

  /** @param {DragEvent} event */
  function refuse(event) {
    if (event.defaultPrevented || !event.dataTransfer?.types.includes('Files')) return
    event.preventDefault()
    if (event.type === 'dragover') event.dataTransfer.dropEffect = 'none'
    if (!hint.firstChild) hint.textContent = WHERE
    clearTimeout(timer)
    timer = setTimeout(() => (hint.textContent = ''), SHOWN)
  }
  for (const type of /** @type {const} */ (['dragover', 'drop'])) addEventListener(type, refuse)
}
