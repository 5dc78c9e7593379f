// Links from everywhere on the page: `#item=12` opens an item in Review, `#batch=NAME` shows a batch there, `#view=12`
// opens a saved view in Find.

import { openTab } from './tabs.js'

const BATCH = '#batch='
const VIEW = '#view='

/** @param {string} hash */
const viewIn = (hash) => (hash.startsWith(VIEW) ? Number(hash.slice(VIEW.length)) || null : null)

/** @type {number | null} the view of a link, until the Find tab opens it */
let wantedView = viewIn(location.hash)

/** The view that the Find tab has to open, once. It is told of later ones by the event "so-view" of the window. */
export function takeView() {
  const view = wantedView
  wantedView = null
  return view
}

/** @param {string} hash of an address or a link */
function followView(hash) {
  wantedView = viewIn(hash)
  if (wantedView === null) return
  openTab('find')
  dispatchEvent(new Event('so-view'))
}

/**
 * Open the Review tab when such a link is clicked. The change of the address opens an item; `onBatch` shows a batch.
 * @param {(batch: string) => void} onBatch
 */
export function followLinks(onBatch) {
  if (wantedView !== null) openTab('find')
  addEventListener('hashchange', () => followView(location.hash))
  document.addEventListener('click', (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || !(event.target instanceof Element)) return
    const href = event.target.closest('a')?.getAttribute('href') ?? ''
    if (href.startsWith(BATCH)) {
      event.preventDefault()
      onBatch(decodeURIComponent(href.slice(BATCH.length)))
    } else if (href.startsWith(VIEW)) {
      event.preventDefault()
      history.replaceState(null, '', href)
      return followView(href)
    } else if (!href.startsWith('#item=')) return
    openTab('review')
  })
}
