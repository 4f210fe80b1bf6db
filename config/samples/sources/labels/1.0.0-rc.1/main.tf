variable "team" {
  type        = string
  description = "Who answers for what carries the labels."
}

locals {
  labels = {
    team    = lower(var.team)
    managed = "terraform"
  }
}

output "labels" {
  value = local.labels
}

output "release" {
  value = "1.0.0-rc.1"
}
