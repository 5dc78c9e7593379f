// When Gradio reloads the page. One of its own events having lost the server, it asks for the app's id until it is answered,
// and then reloads, whatever the person is doing: the field is gone under their hands, and the next letters are keys, which
// decide. So it is not answered while somebody is at a desk of ours, which goes on by itself, or in a field; in Library and
// People it is, whose forms are dead until then.

import { isTyping } from '../common/keys.js'

const ID = /\/gradio_api\/app_id$/
const fetched = window.fetch

const atADesk = () => [...document.querySelectorAll('.so-desk')].some((desk) => desk.getClientRects().length > 0)

window.fetch = (what, options) => {
  if (!ID.test(new URL(what.url ?? what, location.href).pathname)) return fetched(what, options)
  if (!atADesk() && !isTyping(document.activeElement)) return fetched(what, options)
  // "Attempting reconnection" is not true here, and lies over the spectrum; our own strip tells how it is.
  if (atADesk()) for (const close of document.querySelectorAll('[data-testid="toast-close"]')) close.click()
  return Promise.reject(new TypeError('the page is not reloaded while somebody works in it'))
}
