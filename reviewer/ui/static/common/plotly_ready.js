// Wait for plotly.js, which the page's head loads from this server while our modules are loaded; either may be first.

/** @type {Promise<any> | null} */
let waiting = null

/** Resolves with window.Plotly once it is loaded. */
export function plotlyReady() {
  if (window.Plotly) return Promise.resolve(window.Plotly)
  waiting ??= new Promise((done, fail) => {
    const script = document.querySelector('script[src^="/ui/plotly-"]')
    script?.addEventListener('load', () => done(window.Plotly))
    script?.addEventListener('error', () =>
      fail(new Error('plotly.js failed to load. Check that the server is running, then reload the page.')),
    )
    if (window.Plotly) done(window.Plotly)
  })
  return waiting
}
