variable "cidr" {
  type        = string
  description = "Address range of the network."
}

variable "zones" {
  type        = list(string)
  description = "Availability zones, one subnet for each."
  default     = ["a", "b"]
}

module "subnet" {
  source   = "./modules/subnet"
  for_each = { for number, zone in var.zones : zone => number }

  cidr   = var.cidr
  number = each.value
}

resource "terraform_data" "network" {
  input = var.cidr
}

output "cidr" {
  value = terraform_data.network.output
}

output "subnets" {
  value = { for zone, subnet in module.subnet : zone => subnet.cidr }
}

output "release" {
  value = "1.1.0"
}
