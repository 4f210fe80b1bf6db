import { hostPattern, type Schema, secretKeyPattern, shape } from '../value.ts'

/*
 * Parts of Kubernetes objects that users write unchanged. The API server would refuse mistakes only after Helm has applied
 * other objects.
 */

const text: Schema = { type: 'string' }
const name: Schema = { type: 'string', pattern: '^[a-z0-9]([-.a-z0-9]{0,251}[a-z0-9])?$' }
const volumeName: Schema = { type: 'string', pattern: '^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$' }
const count = (minimum: number): Schema => ({ type: 'integer', minimum })
const portNumber: Schema = { type: 'integer', minimum: 1, maximum: 65535 }
const cidr: Schema = { type: 'string', pattern: '^[0-9a-fA-F.:]+/[0-9]{1,3}$' }

export const toleration = shape({
  key: text,
  operator: { enum: ['Exists', 'Equal', 'Lt', 'Gt'] },
  value: text,
  effect: { enum: ['', 'NoSchedule', 'PreferNoSchedule', 'NoExecute'] },
  tolerationSeconds: { type: 'integer' },
})

export const spreadConstraint: Schema = {
  type: 'object',
  properties: {
    maxSkew: count(1),
    topologyKey: text,
    whenUnsatisfiable: { enum: ['DoNotSchedule', 'ScheduleAnyway'] },
  },
  required: ['maxSkew', 'topologyKey', 'whenUnsatisfiable'],
}

const dnsOption = shape({ name: text, value: text }, ['name'])
export const dnsConfig = shape({
  nameservers: { type: 'array', items: text, maxItems: 3 },
  searches: { type: 'array', items: text },
  options: { type: 'array', items: dnsOption },
})

/** The API server refuses a number as the value of a variable. */
export const variable: Schema = {
  type: 'object',
  properties: { name: { type: 'string', pattern: '^[^=]+$' }, value: text },
  required: ['name'],
}

const source = shape({ name, optional: { type: 'boolean' } }, ['name'])
export const variableSource = shape({ prefix: text, secretRef: source, configMapRef: source })

export const volume: Schema = {
  type: 'object',
  properties: { name: volumeName },
  required: ['name'],
}
export const volumeMount: Schema = {
  type: 'object',
  properties: { name: volumeName, mountPath: { type: 'string', pattern: '^/[^:]*$' } },
  required: ['name', 'mountPath'],
}
export const container: Schema = {
  type: 'object',
  properties: { name: volumeName },
  required: ['name'],
}
export const containerPort = shape(
  {
    name: { type: 'string', pattern: '^[a-z0-9]([-a-z0-9]{0,13}[a-z0-9])?$' },
    containerPort: portNumber,
    hostPort: portNumber,
    hostIP: text,
    protocol: { enum: ['TCP', 'UDP', 'SCTP'] },
  },
  ['containerPort'],
)
export const hostAlias = shape(
  {
    ip: { type: 'string', pattern: '^[0-9a-fA-F.:]+$' },
    hostnames: { type: 'array', items: { type: 'string', pattern: hostPattern } },
  },
  ['ip'],
)

const probe = shape({
  initialDelaySeconds: count(0),
  periodSeconds: count(1),
  timeoutSeconds: count(1),
  failureThreshold: count(1),
  successThreshold: count(1),
  terminationGracePeriodSeconds: count(1),
})
export const probes = shape({ startup: probe, readiness: probe, liveness: probe })

export const updateStrategy = shape({
  type: { enum: ['RollingUpdate', 'Recreate', 'OnDelete'] },
  rollingUpdate: { type: 'object' },
})

export const pullSecret: Schema = { anyOf: [name, shape({ name }, ['name'])] }

export const parentRef = shape(
  { group: text, kind: text, namespace: name, name, sectionName: name, port: portNumber },
  ['name'],
)
export const routeFilter: Schema = {
  type: 'object',
  properties: {
    type: {
      enum: [
        'RequestHeaderModifier',
        'ResponseHeaderModifier',
        'RequestMirror',
        'RequestRedirect',
        'URLRewrite',
        'CORS',
        'ExtensionRef',
      ],
    },
  },
  required: ['type'],
}

export const issuerRef = shape({ name: text, kind: text, group: text })
export const privateKey = shape({
  algorithm: { enum: ['RSA', 'ECDSA', 'Ed25519'] },
  size: { type: 'integer', minimum: 256, maximum: 8192 },
  encoding: { enum: ['PKCS1', 'PKCS8'] },
  rotationPolicy: { enum: ['Never', 'Always'] },
})

export const networkPeer = shape({
  ipBlock: shape({ cidr, except: { type: 'array', items: cidr } }, ['cidr']),
  namespaceSelector: { type: 'object' },
  podSelector: { type: 'object' },
})

export const relabeling = shape({
  sourceLabels: { type: 'array', items: text },
  separator: text,
  targetLabel: text,
  regex: text,
  modulus: count(0),
  replacement: text,
  action: {
    type: 'string',
    pattern:
      '^(?i:replace|keep|drop|hashmod|labelmap|labeldrop|labelkeep|lowercase|uppercase|keepequal|dropequal)$',
  },
})

/** Users of Valkey are keys of a Secret and of a ConfigMap. */
export const aclUsers: Schema = {
  type: 'object',
  patternProperties: { [secretKeyPattern]: shape({ permissions: text }, ['permissions']) },
  additionalProperties: false,
}
