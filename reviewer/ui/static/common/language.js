// The language of the page: `t` and `tn` translate a message and put values in place of `{name}`.

/** @param {string} message @param {Record<string, string | number>} values */
const filled = (message, values) =>
  message.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole))

/**
 * A message in the language of the page.
 * @param {string} message @param {Record<string, string | number>} [values]
 */
export const t = (message, values = {}) => filled(message, values)

/**
 * The form of a message for a number, which it may show as `{n}`.
 * @param {string} one @param {string} many @param {number} n @param {Record<string, string | number>} [values]
 */
export const tn = (one, many, n, values = {}) => filled(n === 1 ? one : many, { n, ...values })
