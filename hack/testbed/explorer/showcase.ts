import type { Sample, SampleDepot } from './manifests.ts'

/* A registry as a company has one: what pages look like with real names, trouble and all. */

const counted = (major: number, count: number): string[] =>
  Array.from({ length: count }, (_, at) => `${major}.${count - at - 1}.${at % 4}`)

const moduleOf = (
  namespace: string,
  name: string,
  provider: string,
  rest: Partial<Sample> = {},
): Sample => ({
  namespace,
  name,
  kind: 'module',
  provider,
  versions: counted(4, 6),
  findings: [0, 0, 2, 4, 0],
  ...rest,
})

const providerOf = (namespace: string, name: string, rest: Partial<Sample> = {}): Sample => ({
  namespace,
  name,
  kind: 'provider',
  versions: counted(6, 5),
  platforms: ['linux/amd64', 'linux/arm64', 'darwin/arm64', 'windows/amd64'],
  findings: [0, 1, 5, 8, 0],
  ...rest,
})

export const showcase: readonly Sample[] = [
  moduleOf('data', 'aurora-postgres', 'aws', { findings: [0, 1, 3, 6, 0] }),
  moduleOf('platform', 'eks-cluster', 'aws', { findings: [1, 4, 12, 9, 0], failed: ['4.2.3'] }),
  moduleOf('platform', 'eks-node-group', 'aws'),
  moduleOf('security', 'iam-boundary', 'aws', { findings: [0, 0, 0, 0, 0], public: false }),
  moduleOf('platform', 'ingress-gateway', 'kubernetes', {
    versions: ['3.0.0-rc.2', '3.0.0-rc.1'],
    findings: undefined,
    failed: ['3.0.0-rc.2'],
    synced: false,
    public: false,
  }),
  moduleOf('data', 'kafka-topic', 'confluent', {
    findings: [0, 0, 1, 0, 0],
    public: false,
    removalHeld: true,
  }),
  moduleOf('security', 'kms-key', 'aws', { findings: [0, 0, 0, 1, 0] }),
  moduleOf('network', 'landing-zone', 'azurerm', { findings: [0, 2, 8, 14, 1], public: false }),
  moduleOf(
    'platform',
    'observability-collector-daemonset-with-tail-sampling-and-egress',
    'kubernetes',
    { versions: ['12.40.113'], findings: [0, 0, 4, 2, 0], public: false },
  ),
  moduleOf('payments', 'pci-vault', 'google', {
    findings: [2, 6, 11, 3, 0],
    synced: false,
    failed: ['4.4.1'],
    public: false,
  }),
  moduleOf('network', 'private-dns', 'azurerm', { findings: [0, 0, 1, 2, 0] }),
  moduleOf('data', 'redis', 'aws', { findings: [0, 0, 2, 1, 0] }),
  moduleOf('data', 's3-bucket', 'aws', { findings: [0, 0, 0, 2, 0] }),
  moduleOf('network', 'transit-gateway', 'aws', { findings: [0, 1, 2, 2, 0] }),
  moduleOf('network', 'vpc', 'aws', {
    versions: counted(6, 42),
    findings: [0, 2, 5, 3, 0],
    failed: ['6.39.2'],
  }),
  moduleOf('network', 'vpc-endpoints', 'aws'),
  providerOf('platform', 'acme-cmdb', {
    findings: [0, 3, 7, 2, 4],
    public: false,
    failed: ['6.1.3'],
  }),
  providerOf('hashicorp', 'aws'),
  providerOf('hashicorp', 'azurerm', { findings: [0, 0, 2, 5, 0] }),
  providerOf('hashicorp', 'google', { findings: [0, 2, 6, 4, 0], synced: false }),
  providerOf('hashicorp', 'kubernetes', { findings: [0, 0, 3, 3, 0] }),
]

export const showcaseDepots: readonly SampleDepot[] = [
  {
    namespace: 'network',
    name: 'core-modules',
    storage: 's3',
    minutes: 15,
    modules: ['vpc', 'transit-gateway', 'private-dns', 'landing-zone', 'security/kms-key'],
    providers: ['hashicorp/aws'],
  },
  {
    namespace: 'platform',
    name: 'cluster-modules',
    storage: 's3',
    minutes: 60,
    modules: ['security/kms-key', 'eks-cluster', 'eks-node-group', 'ingress-gateway'],
    providers: ['acme-cmdb'],
  },
  {
    namespace: 'data',
    name: 'data-modules',
    storage: 'gcs',
    minutes: 60,
    modules: ['aurora-postgres', 'kafka-topic', 's3-bucket'],
    providers: [],
  },
  {
    namespace: 'hashicorp',
    name: 'mirror',
    storage: 'azureStorage',
    minutes: 240,
    modules: [],
    providers: ['aws', 'google', 'azurerm'],
    failing: 'PartiallySynced',
  },
  {
    namespace: 'payments',
    name: 'pci',
    storage: 'fileSystem',
    minutes: 60,
    modules: ['data/s3-bucket', 'pci-vault'],
    providers: [],
  },
]

/** The README of network/vpc. */
export const readme = `# AWS VPC

Creates a VPC with public, private, intra and database subnets across up to six availability zones, NAT gateways, flow logs and the tags that our [clusters](#inputs) expect.

- [x] IPv6 and dual-stack subnets
- [x] Flow logs to S3 or CloudWatch
- [ ] IPAM pools

## Usage

\`\`\`hcl
module "vpc" {
  source  = "depot.example.com/network/vpc/aws"
  version = "~> 6.40"

  name = "prod-eu-central-1"
  cidr = "10.40.0.0/16"

  azs             = ["eu-central-1a", "eu-central-1b", "eu-central-1c"]
  private_subnets = ["10.40.0.0/19", "10.40.32.0/19", "10.40.64.0/19"]

  single_nat_gateway = false # one per zone
}
\`\`\`

## Inputs

| Name | Description | Type | Default | Required |
|------|-------------|------|---------|:--------:|
| azs | Availability zones to place subnets in. | \`list(string)\` | n/a | yes |
| cidr | IPv4 block of the VPC. | \`string\` | \`"10.0.0.0/16"\` | no |

## Outputs

| Name | Description |
|------|-------------|
| vpc_id | Id of the VPC. |
`
