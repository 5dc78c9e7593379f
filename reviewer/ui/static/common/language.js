// The language of the page: `t` and `tn` translate a message and put values in place of `{name}`. The catalogue is
// in the page's head (/ui/language/LANGUAGE.js, reviewer/web/language.py), so that it is here before any module runs.

import { basePath } from './address.js'

/**
 * @type {{code: string, tag: string, pseudo?: boolean, choices: Record<string, string>,
 *   messages: Record<string, string | string[]>}}
 */
const page = /** @type {any} */ (globalThis).so_language ?? { code: 'en', tag: 'en', choices: {}, messages: {} }

export const languageTag = page.tag // as `Intl` names it
export const language = page.code // e.g. "zh"
export const TRACE = 'en' // the language of traces and guides, whatever that of the page is
export const languages = page.choices // each by its own name

/** @param {string} message @param {Record<string, string | number>} values */
const filled = (message, values) =>
  message.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole))

/** @param {string} key @param {string} english */
function translated(key, english) {
  if (page.pseudo) return `⟦${english}⟧`
  // Own entries only: a message may be named as something that every object has.
  const forms = Object.hasOwn(page.messages, key) ? page.messages[key] : english
  return typeof forms === 'string' ? forms : forms[0]
}

/** A message in the language of the page. @param {string} message @param {Record<string, string | number>} [values] */
export const t = (message, values = {}) => filled(translated(message, message), values)

/**
 * The form of a message for a number, which it may show as `{n}`.
 * @param {string} singular @param {string} many @param {number} n @param {Record<string, string | number>} [values]
 */
export const tn = (singular, many, n, values = {}) =>
  filled(translated(singular, n === 1 ? singular : many), { n, ...values })

/**
 * A message with elements in place of some `{names}`, e.g. a key cap: the parts in the order of the language.
 * @param {string} message translated already, by `t` without these values
 * @param {Record<string, import('./dom.js').Child>} parts @returns {import('./dom.js').Child[]}
 */
export const withParts = (message, parts) =>
  message.split(/\{(\w+)\}/).map((piece, at) => (at % 2 ? (piece in parts ? parts[piece] : `{${piece}}`) : piece))

/** A word that the server stores and the page shows, e.g. a state; all are in words.js. @param {string} stored */
export const word = (stored) => translated(stored, stored)

/** Words one after the other: "a, b", in Chinese with its own comma of lists. @param {(string | number)[]} all */
export const withCommas = (all) => all.join(page.code === 'zh' ? '、' : ', ')

/** Whole sentences one after the other; empty ones are left out. @param {(string | false | null | undefined)[]} all */
export const sentences = (...all) => all.filter(Boolean).join(BETWEEN)

/** What stands between two sentences. */
export const BETWEEN = page.code === 'zh' ? '' : ' '

/** Choose the language for this browser, and load the page again; the desks keep what is open. @param {string} code */
export function chooseLanguage(code) {
  document.cookie = `so-language=${code}; path=${basePath}; max-age=31536000; samesite=lax`
  location.reload()
}
