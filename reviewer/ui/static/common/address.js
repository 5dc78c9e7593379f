// Addresses of this app, which may be served below a path of its host (`spec-o3 app --behind https://HOST/PATH/`). An
// address that begins with a slash stands only in a call of `address` or of http.js (tests/js/addresses.js).

const base = new URL('../../', import.meta.url)

/** The path of the app on its host: "/", or "/PATH/". */
export const basePath = base.pathname

/**
 * The address of a route, e.g. of "/api/v1/me". An address that is complete stays as it is.
 * @param {string} path
 */
export const address = (path) => (path.startsWith('/') ? base.origin + basePath + path.slice(1) : path)
