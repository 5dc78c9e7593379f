// plotly.js, from this server. The page's head loads its script while our modules are loaded, so either may come first.

/** @type {Promise<any> | null} */
let waiting = null

/** Resolves with window.Plotly once it is there. */
export function plotlyReady() {
  if (window.Plotly) return Promise.resolve(window.Plotly)
  waiting ??= new Promise((done, fail) => {
    const script = document.querySelector('script[src^="/ui/plotly-"]')
    script?.addEventListener('load', () => done(window.Plotly))
    script?.addEventListener('error', () =>
      fail(new Error('plotly.js failed to load. Check that the server runs, then reload the page.')),
    )
    if (window.Plotly) done(window.Plotly)
  })
  return waiting
}
