// Waiting: for the next paint, for an idle browser, for a time.

/**
 * Resolves when the latest changes are on the screen: the second frame begins after the first was drawn. A hidden tab
 * gets no frames and is given 0.25 s.
 * @returns {Promise<void>}
 */
export const painted = () =>
  new Promise((/** @type {(value?: any) => void} */ done) => {
    setTimeout(done, 250)
    requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done)))
  })

/** Resolves when the browser is idle, within 2 s. Safari does not report it and is given 0.1 s. */
export const idle = () =>
  new Promise((done) => {
    if ('requestIdleCallback' in window) requestIdleCallback(done, { timeout: 2000 })
    else setTimeout(done, 100)
  })

export const pause = (ms) => new Promise((done) => setTimeout(done, ms))
