// Loads plotly.js. The page's head runs this module, so that it begins as soon as the browser is idle: running
// plotly.js takes half a second, in which Gradio's components can be fetched.

import { idle } from './idle.js'
import { t } from './language.js'

/** @type {Promise<any> | null} */
let loading = null

/** Resolves with window.Plotly once it is loaded. */
export function plotlyReady() {
  loading ??= window.Plotly ? Promise.resolve(window.Plotly) : load()
  return loading
}

function load() {
  const address = /** @type {HTMLLinkElement} */ (document.getElementById('so-plotly')).href
  return new Promise((done, fail) => {
    const script = document.createElement('script')
    script.onload = () => done(window.Plotly)
    script.onerror = () =>
      fail(new Error(t('plotly.js failed to load. Check that the server is running, then reload the page.')))
    script.src = address
    document.head.append(script)
  })
}

// A failure is reported by those who wait for it.
idle().then(() => plotlyReady().catch(() => {}))
