variable "cidr" {
  type        = string
  description = "Address range of the network."
}

resource "terraform_data" "network" {
  input = var.cidr
}

output "cidr" {
  value = terraform_data.network.output
}

output "release" {
  value = "1.0.0"
}
