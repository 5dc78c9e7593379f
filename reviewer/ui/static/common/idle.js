// When work may be done that nobody waits for.

/**
 * Resolves when what was changed just now is on the screen: the second frame begins after the first was drawn. A hidden
 * tab gets no frames, so there it is a moment later.
 */
export const painted = () =>
  new Promise((done) => {
    const late = setTimeout(done, 250)
    requestAnimationFrame(() =>
      requestAnimationFrame(() =>
        setTimeout(() => {
          clearTimeout(late)
          done()
        }, 0),
      ),
    )
  })

/** Resolves when the browser has nothing better to do, within two seconds. Firefox and Chromium know; Safari is given a moment. */
export const idle = () =>
  new Promise((done) => {
    if (window.requestIdleCallback) requestIdleCallback(done, { timeout: 2000 })
    else setTimeout(done, 100)
  })

export const pause = (ms) => new Promise((done) => setTimeout(done, ms))
