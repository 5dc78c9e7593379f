// An ESLint rule: an address of the app, e.g. '/api/v1/me', is an argument of `address` or of a function that sends a
// request with it (common/http.js). The app may be served below a path of its host, where such a text alone leads
// elsewhere.

/** Functions that give their first argument to `address` in the end, and one that only compares. */
const COMPLETING = new Set(
  (
    'address request getJSON getText getBytes getSpectrum postBytes postJSON postRepeatable postForm remove ' +
    'withVerdictFirst getKept endsWith'
  ).split(' '),
)
const ADDRESS = /^\/{1,2}[\w.-]/

function textOf(node) {
  if (node.type === 'Literal') return typeof node.value === 'string' ? node.value : ''
  return node.quasis[0].value.cooked
}

const nameOf = (callee) => (callee.type === 'MemberExpression' ? callee.property.name : callee.name)

/**
 * Whether a text is in an argument of a call that completes it, or is the path of a request of the outbox; a function
 * around it is another matter.
 */
function isCompleted(node) {
  const { parent } = node
  if (parent.type === 'Property' && parent.key.name === 'path') return true
  for (
    let inner = node, outer = node.parent;
    outer && !/Function/.test(outer.type);
    inner = outer, outer = outer.parent
  )
    if (outer.type === 'CallExpression' && inner === outer.arguments[0] && COMPLETING.has(nameOf(outer.callee)))
      return true
  return false
}

const check = (context) => (node) => {
  if (ADDRESS.test(textOf(node)) && !isCompleted(node)) context.report({ node, messageId: 'bare' })
}

export default {
  rules: {
    'addresses-are-completed': {
      meta: { type: 'problem', messages: { bare: 'an address of the app outside address(), see common/address.js' } },
      create: (context) => ({ Literal: check(context), TemplateLiteral: check(context) }),
    },
  },
}
