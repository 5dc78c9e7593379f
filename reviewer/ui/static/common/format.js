// Formats of numbers: a true minus sign, narrow spaces between thousands, Å. Pure functions.

import { languageTag, t, withCommas, word } from './language.js'

const MINUS = '\u2212'
const NARROW = '\u202f'
const SUPERSCRIPTS = { '-': '⁻', 0: '⁰', 1: '¹', 2: '²', 3: '³', 4: '⁴', 5: '⁵', 6: '⁶', 7: '⁷', 8: '⁸', 9: '⁹' }

const UNDEFINED = '–' // in place of an undefined number; never "NaN"

/** `value` with a fixed number of decimals. Thousands are grouped from 1 000 on, unless `group` is false. */
export function number(value, digits = 0, { group = true, sign = false } = {}) {
  if (!Number.isFinite(value)) return UNDEFINED
  const [whole, fraction] = Math.abs(value).toFixed(digits).split('.')
  const grouped = group ? whole.replace(/\B(?=(\d{3})+$)/g, NARROW) : whole
  const text = fraction === undefined ? grouped : `${grouped}.${fraction}`
  const isZero = /^[0.]*$/.test(text)
  if (value < 0 && !isZero) return MINUS + text
  return sign && !isZero ? `+${text}` : text
}

/** `value` with about `figures` significant figures and no exponent between 0.001 and 10⁶. */
export function significant(value, figures = 3) {
  if (!Number.isFinite(value)) return UNDEFINED
  if (value === 0) return '0'
  const exponent = Math.floor(Math.log10(Math.abs(value)))
  if (exponent >= 6 || exponent < -3)
    return `${number(value / 10 ** exponent, figures - 1)} × 10${superscript(exponent)}`
  return number(value, Math.max(0, figures - 1 - exponent))
}

/**
 * A measured number as `agent.measure.values.plus_minus` prints it: the error to two digits if it begins with 1,
 * otherwise one; the value to the same decimals. With its unit, if it has one.
 * @param {{value: number, error: number, unit?: string}} measured
 */
export function plusMinus({ value, error, unit = '' }, { group = true } = {}) {
  const after = unit ? `${NARROW}${unit}` : ''
  if (!(error > 0)) return `${number(value, 2, { group })}${after}`
  const exponent = Math.floor(Math.log10(error))
  const decimals = Math.max(-12, Math.min(6, (error / 10 ** exponent < 1.95 ? 1 : 0) - exponent))
  const rounded = (/** @type {number} */ x) =>
    decimals < 0
      ? number(Math.round(x * 10 ** decimals) / 10 ** decimals, 0, { group })
      : number(x, decimals, { group })
  return `${rounded(value)} ± ${rounded(error)}${after}`
}

/** A measured number with its error and unit as other programs read it: -7.4 ± 0.6 Å. */
export const copyable = ({ value, error }, unit = '') =>
  plusMinus({ value, error, unit }, { group: false }).replaceAll(NARROW, ' ').replaceAll(MINUS, '-')

/** A wavelength in Å. Wavelengths are not grouped: 6562.80, as line lists and catalogues print them. */
export const angstrom = (value, digits = 2) => `${number(value, digits, { group: false })}${NARROW}Å`

/** The medium of a spectrum's wavelengths: "air (assumed)" where the file does not state it. */
export const mediumText = ({ medium, meta }) =>
  meta?.medium_assumed ? t('{medium} (assumed)', { medium: word(medium) }) : word(medium)

/** A wavelength window, as on the step's card: 6500 – 6630 Å. */
export function windowText(lo, hi) {
  const plain = (value) => number(value, Number.isInteger(value) ? 0 : 1, { group: false })
  return `${plain(lo)} – ${plain(hi)}${NARROW}Å`
}

/** A redshift with at least five decimals (1e-5 is 3 km/s) and at most seven. */
export const redshift = (z) => number(z, 7, { group: false }).replace(/0{1,2}$/, '')

const HOURS = /** @type {const} */ ({ hour: '2-digit', minute: '2-digit', hourCycle: 'h23' })

/** A time of the day in the reader's time zone, e.g. 14:05. @param {string} iso */
export const timeOfDay = (iso) => new Intl.DateTimeFormat(languageTag, HOURS).format(new Date(iso))

/** A time of the day with its seconds, e.g. 14:05:09. @param {string} iso */
export const timeWithSeconds = (iso) =>
  new Intl.DateTimeFormat(languageTag, { ...HOURS, second: '2-digit' }).format(new Date(iso))

/** A day and a time in the reader's time zone, e.g. 2026-11-25 14:05. @param {string} iso */
export function dateAndTime(iso) {
  const at = new Date(iso)
  const two = (/** @type {number} */ n) => String(n).padStart(2, '0')
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())} ${timeOfDay(iso)}`
}

/** Words as a list of the language, e.g. "a, b and c". @param {string[]} words */
export const listOf = (words) => new Intl.ListFormat(languageTag, { style: 'long', type: 'conjunction' }).format(words)

/** A velocity in km/s, by default without decimals. */
export const velocity = (kms, digits = 0) => `${number(kms, digits)}${NARROW}km/s`

/** Parse a typed number: true minus signs, any spaces and a leading plus are accepted. NaN if it is no number. */
export function parseNumber(text) {
  const plain = text.replace(/[\u2212\u2013]/g, '-').replace(/[\s\u2009\u202f]/g, '')
  return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(plain) ? Number(plain) : NaN
}

/** 17 as ¹⁷, for units. */
const superscript = (integer) => [...String(integer)].map((character) => SUPERSCRIPTS[character]).join('')

/**
 * The title of the flux axis. `exponent`: power of ten by which the drawn numbers were divided, in addition to `unit`.
 * Returns {quantity, unit, text}: `text` is the whole title, `quantity` the short form.
 */
export function fluxTitle(unit, exponent = 0) {
  const power = (n) => (n === 0 ? '' : `10${superscript(n)}`)
  if (!unit || /^unknown$/i.test(unit)) unit = 'unit unknown'
  if (/^(unit unknown|relative|counts?|adu|normali[sz]ed)$/i.test(unit.trim())) {
    const kind = unit.trim().toLowerCase()
    const inside = withCommas([word(kind), power(exponent) && `× ${power(exponent)}`].filter(Boolean))
    return { quantity: t('Flux'), unit: inside, text: t('Flux ({unit})', { unit: inside }) }
  }
  const { scale, rest } = splitPowerOfTen(unit)
  const pretty = prettyUnit(rest)
  const inside = [power(scale + exponent), pretty].filter(Boolean).join(' ')
  const quantity = /Å⁻¹|nm⁻¹|µm⁻¹/.test(pretty) ? 'Fλ' : /Jy|Hz⁻¹/.test(pretty) ? 'Fν' : t('Flux')
  return { quantity, unit: inside, text: `${quantity} (${inside})` }
}

function splitPowerOfTen(unit) {
  const match = unit.match(
    /^\s*(?:1(?:\.0*)?\s*[eE]\s*([+-]?\d+)|10\s*(?:\*\*|\^)\s*\(?\s*([+-]?\d+)\s*\)?)\s*[*·x×]?\s*(.*)$/,
  )
  return match ? { scale: Number(match[1] ?? match[2]), rest: match[3] } : { scale: 0, rest: unit }
}

const unitName = (name) => (/^(ang(strom)?s?|AA?)$/i.test(name) ? 'Å' : ({ ergs: 'erg', um: 'µm' }[name] ?? name))

/** "erg / (Angstrom s cm2)" and "erg s-1 cm-2 AA-1" become erg s⁻¹ cm⁻² Å⁻¹; an unknown unit is unchanged. */
function prettyUnit(text) {
  const powers = new Map()
  let inverse = false
  let depth = 0
  for (const token of text.match(/[A-Za-zÅµ]+|\(|\)|\/|[*^]*\s*\(?[+-]?\d+\)?|[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+|[*·.\s]+/g) ?? []) {
    const last = [...powers.keys()].at(-1)
    if (token === '/') inverse = true
    else if (token === '(') depth += 1
    else if (token === ')') [depth, inverse] = [depth - 1, false]
    else if (/^[A-Za-zÅµ]/.test(token)) {
      powers.set(unitName(token), inverse ? -1 : 1)
      if (depth === 0) inverse = false
    } else if (/^[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]/.test(token)) return text
    else if (/\d/.test(token) && last) powers.set(last, powers.get(last) * Number(token.replace(/[^\d-]/g, '')))
  }
  const order = ['mJy', 'Jy', 'erg', 'W', 's', 'm', 'cm', 'Hz', 'Å', 'nm', 'µm']
  const rank = (name) => (order.includes(name) ? order.indexOf(name) : order.length)
  return [...powers]
    .sort((a, b) => rank(a[0]) - rank(b[0]))
    .map(([name, power]) => (power === 1 ? name : name + superscript(power)))
    .join(' ')
}
