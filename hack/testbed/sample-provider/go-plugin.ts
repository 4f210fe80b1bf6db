import * as grpc from '@grpc/grpc-js'
import type protobuf from 'protobufjs'
import { generate } from 'selfsigned'
import { protocol } from './protocol.ts'

/** The cookie that Terraform sends, so that a plugin knows that it was not started by hand. */
const cookie = {
  name: 'TF_PLUGIN_MAGIC_COOKIE',
  value: 'd602bf8f470bc67ca7faa0386276bbdd4330efaf76d1a219cb4d6991ca9872b2',
}

/** The handler of each call, by name. Messages have the form of protobufjs: camelCase keys, bytes as Uint8Array. */
export type Calls = Readonly<Record<string, (request: never) => object>>

/** A gRPC service of the protocol, each of its calls answered by the function of that name. */
function serviceOf(name: string, calls: Calls) {
  const service = protocol.lookupService(name)
  const known = service.methodsArray.filter((method) => method.name in calls)
  const definition: Record<string, grpc.MethodDefinition<object, object>> = {}
  const handlers: grpc.UntypedServiceImplementation = {}
  for (const method of known) {
    const { resolvedRequestType: request, resolvedResponseType: response } =
      method.resolve() as protobuf.Method & {
        resolvedRequestType: protobuf.Type
        resolvedResponseType: protobuf.Type
      }
    definition[method.name] = {
      path: `/${name}/${method.name}`,
      requestStream: false,
      responseStream: false,
      requestSerialize: (message) => Buffer.from(request.encode(message).finish()),
      requestDeserialize: (bytes) => request.decode(bytes),
      responseSerialize: (message) => Buffer.from(response.encode(message).finish()),
      responseDeserialize: (bytes) => response.decode(bytes),
    }
    const handler: grpc.handleUnaryCall<object, object> = ({ request: message }, answer) => {
      try {
        answer(null, response.fromObject(calls[method.name]?.(message as never) ?? {}))
      } catch (err) {
        answer({ code: grpc.status.INTERNAL, message: String(err) })
      }
    }
    handlers[method.name] = handler
  }
  return { definition, handlers }
}

/**
 * Serves a provider to the Terraform or OpenTofu that started this process, as HashiCorp's go-plugin does: mutual TLS
 * with a certificate made for this one run, and a line on stdout that says where.
 */
export async function serve(provider: Calls): Promise<void> {
  const clientCertificate = process.env['PLUGIN_CLIENT_CERT']
  if (process.env[cookie.name] !== cookie.value) {
    console.error('This is a Terraform provider: only Terraform starts it.')
    process.exit(1)
  }
  const server = new grpc.Server()
  const shutdown = () => {
    setImmediate(() => process.exit(0))
    return {}
  }
  const services = [
    serviceOf('tfplugin5.Provider', provider),
    serviceOf('plugin.GRPCController', { Shutdown: shutdown }),
  ]
  for (const { definition, handlers } of services) server.addService(definition, handlers)

  const own = await ownCertificate()
  const credentials =
    clientCertificate === undefined
      ? grpc.ServerCredentials.createInsecure()
      : grpc.ServerCredentials.createSsl(
          Buffer.from(clientCertificate),
          [{ private_key: Buffer.from(own.private), cert_chain: Buffer.from(own.cert) }],
          true,
        )
  server.bindAsync('127.0.0.1:0', credentials, (err, port) => {
    if (err !== null) throw err
    const proof = clientCertificate === undefined ? '' : `|${base64OfPem(own.cert)}`
    console.log(`1|5|tcp|127.0.0.1:${port}|grpc${proof}`)
  })
}

const ownCertificate = () =>
  generate([{ name: 'commonName', value: 'localhost' }], {
    keyType: 'ec',
    curve: 'P-256',
    algorithm: 'sha256',
    notBeforeDate: new Date(Date.now() - 60_000),
    notAfterDate: new Date(Date.now() + 24 * 3_600_000),
    extensions: [
      { name: 'basicConstraints', cA: true },
      { name: 'subjectAltName', altNames: [{ type: 2, value: 'localhost' }] },
    ],
  })

/** The DER of a certificate, in the unpadded base64 that go-plugin reads. */
const base64OfPem = (pem: string): string => pem.replaceAll(/-----[^-]+-----|\s|=/g, '')
