variable "cidr" {
  type        = string
  description = "Address range of the network."
}

variable "number" {
  type        = number
  description = "Which of the subnets, from 0."
}

output "cidr" {
  value = cidrsubnet(var.cidr, 8, var.number)
}
