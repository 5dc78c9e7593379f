// Links into the Review tab from everywhere on the page: `#item=12` opens an item, `#batch=NAME` shows a batch.

import { openTab } from './tabs.js'

const BATCH = '#batch='

/**
 * Open the Review tab when such a link is clicked. The change of the address opens an item; `onBatch` shows a batch.
 * @param {(batch: string) => void} onBatch
 */
export function followLinks(onBatch) {
  document.addEventListener('click', (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || !(event.target instanceof Element)) return
    const href = event.target.closest('a')?.getAttribute('href') ?? ''
    if (href.startsWith(BATCH)) {
      event.preventDefault()
      onBatch(decodeURIComponent(href.slice(BATCH.length)))
    } else if (!href.startsWith('#item=')) return
    openTab('review')
  })
}
