// The Review desk before Gradio's part of the page is up. Gradio takes a second to put up its tabs; the desk lies below the
// tab row whatever stands above it, so it opens the first item in the body of the page, and moves into its tab when that is
// there. Gradio's program is one long task, and whoever waits for an item would wait for it too: it comes after the item.

import { h } from '../common/dom.js'
import { startGradio } from './gradio.js'
import { pause } from '../common/idle.js'
import { mountReview } from './review.js'
import { comeBack } from '../common/tabs.js'

const PATIENCE = 5000 // ms, where the first item does not come
const TABS_PATIENCE = 20_000 // ms from when Gradio's part is in the page

let early = null
let row = null // in the place of the tabs until they are there

/** The tabs, below which the desk is from now on. */
async function bringTabs() {
  try {
    await startGradio(() => early)
    await pause(TABS_PATIENCE)
    if (row.isConnected) notTabs('')
  } catch (problem) {
    notTabs(` ${problem.message}`)
  }
}

/** A part of Gradio was lost on the way, as when the network is cut meanwhile. Only a reload asks for it again. */
function notTabs(why) {
  row.lastChild.replaceWith(
    h(
      'span',
      { role: 'alert' },
      `The other tabs did not come.${why} `,
      h('button', { type: 'button', onClick: () => location.reload() }, 'Reload'),
    ),
  )
}

/** The Review tab is there. */
export function moveIn(place) {
  if (!place || place.dataset.mounted) return
  if (early) into(place, early)
  else mountReview(place)
  row.remove()
  early = null
  comeBack()
}

/** Put the desk where the tab has its place for it, with its scroll, and with the field in which somebody types. */
function into(place, desk) {
  if (place.parentElement.moveBefore) place.parentElement.moveBefore(desk, place)
  else {
    const typing = desk.contains(document.activeElement) ? document.activeElement : null
    const scrolled = [...desk.querySelectorAll('*')]
      .filter((part) => part.scrollTop)
      .map((part) => [part, part.scrollTop])
    place.before(desk)
    for (const [part, top] of scrolled) part.scrollTop = top
    typing?.focus({ preventScroll: true })
  }
  place.remove()
}

/** Whether the tab that was in front before a reload is another than Review (tabs.js keeps it). */
function leftElsewhere() {
  try {
    return sessionStorage.getItem('so-tab') !== null
  } catch {
    return false
  }
}

row = h('div.so-coming', {}, h('b', {}, 'Spec-o3 review'), h('span', {}, 'the other tabs are coming …'))
document.body.append(row)
if (leftElsewhere()) bringTabs()
else {
  early = document.createElement('div')
  document.body.append(early)
  Promise.race([mountReview(early), pause(PATIENCE)]).finally(bringTabs)
}
