// plotly.js, from this server. Its script is fetched beside our modules, so which comes first is open.

let waiting = null

/** Resolves with window.Plotly once it is there. */
export function plotlyReady() {
  if (window.Plotly) return Promise.resolve(window.Plotly)
  waiting ??= new Promise((done, fail) => {
    const script =
      document.querySelector('script[src="/ui/plotly.min.js"]') ??
      document.head.appendChild(Object.assign(document.createElement('script'), { src: '/ui/plotly.min.js' }))
    script.addEventListener('load', () => done(window.Plotly))
    script.addEventListener('error', () => fail(new Error('plotly.js did not come from this server; restart the app.')))
    if (window.Plotly) done(window.Plotly)
  })
  return waiting
}
