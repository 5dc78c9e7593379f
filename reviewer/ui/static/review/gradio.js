// Gradio's part of the page: it comes as a page of its own, and what is in it is taken into ours.

import { getText, Refused } from '../common/http.js'
import { pause } from '../common/idle.js'

const ITS_PAGE = '/page'
const AGAIN = 2000 // ms, where the server does not answer
const OUR_OWN = 'meta, title, base' // of the head: ours stand already

let begun = null

/**
 * Put up Gradio's part, once. While the server imports Gradio this waits.
 * @param {() => Node | null} above  what Gradio's part goes before in the body
 * @throws {Refused} the server will not give it
 */
export const startGradio = (above) => (begun ??= takeIn(above))

async function takeIn(above) {
  const theirs = new DOMParser().parseFromString(await itsPage(), 'text/html')
  const program = theirs.querySelector('script[type=module][src]')
  program?.remove()
  const head = [...theirs.head.children].filter((part) => !part.matches(OUR_OWN)).map(living)
  const sheets = head.filter((part) => part.rel === 'stylesheet').map(loaded)
  document.head.append(...head)
  await Promise.all(sheets)
  const place = above()
  for (const part of [...theirs.body.children].map(living)) document.body.insertBefore(part, place)
  if (program) document.head.append(living(program))
}

async function itsPage() {
  for (;;) {
    try {
      return await getText(ITS_PAGE)
    } catch (problem) {
      if (problem instanceof Refused && !problem.passes) throw problem
      await pause(AGAIN)
    }
  }
}

/** A script that was parsed so is dead; one that is made here runs, and the page's policy knows it by the nonce. */
function living(part) {
  if (part.localName !== 'script') return document.importNode(part, true)
  const script = document.createElement('script')
  for (const { name, value } of part.attributes) script.setAttribute(name, value)
  script.nonce = document.scripts[0].nonce
  script.textContent = part.textContent
  return script
}

const loaded = (sheet) =>
  new Promise((done) => {
    sheet.addEventListener('load', done)
    sheet.addEventListener('error', done)
  })
