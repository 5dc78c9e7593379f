// The Review desk before Gradio's page is up. Gradio takes a second to put up its tabs; the desk lies below the tab row
// whatever stands above it, so it opens the first item in the body of the page, and moves into its tab when that is there.

import { pause } from './idle.js'
import { mountReview } from './review.js'
import { comeBack } from './tabs.js'

const PATIENCE = 5000 // ms, where the first item does not come

let early = null

/** Gradio's program, which the server held back: it is one long task, and whoever waits for an item would wait for it too. */
function startGradio() {
  const program = document.getElementById('gradio-program')
  if (program) import(program.href)
}

/** The Review tab is there. */
export function moveIn(place) {
  if (!place || place.dataset.mounted) return
  if (early) into(place, early)
  else mountReview(place)
  early = null
  comeBack()
}

/** Put the desk where the tab has its place for it, with its scroll, and with the field in which somebody types. */
function into(place, desk) {
  if (place.parentElement.moveBefore) place.parentElement.moveBefore(desk, place)
  else {
    const typing = desk.contains(document.activeElement) ? document.activeElement : null
    const scrolled = [...desk.querySelectorAll('*')].filter((part) => part.scrollTop).map((part) => [part, part.scrollTop])
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

if (leftElsewhere()) startGradio()
else {
  early = document.createElement('div')
  document.body.append(early)
  Promise.race([mountReview(early), pause(PATIENCE)]).finally(startGradio)
}
