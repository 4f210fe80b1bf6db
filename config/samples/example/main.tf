terraform {
  required_providers {
    hello = {
      source  = "depot.test/platform/hello"
      version = "~> 1.0"
    }
  }
}

module "network" {
  source  = "depot.test/platform/network/aws"
  version = "~> 1.0"

  cidr = "10.0.0.0/16"
}

resource "hello_greeting" "first_run" {
  name = "Depot"
}

output "subnets" {
  value = module.network.subnets
}

output "greeting" {
  value = hello_greeting.first_run.message
}
