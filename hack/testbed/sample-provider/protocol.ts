import protobuf from 'protobufjs'

/**
 * The part of Terraform's plugin protocol 5 that this provider uses, and go-plugin's call that ends it.
 * A field that is not named here is skipped when read; a call that is not named is answered as unimplemented.
 */
const plugin = `
  syntax = "proto3";
  package tfplugin5;

  message Empty {}
  message DynamicValue { bytes msgpack = 1; bytes json = 2; }
  message RawState { bytes json = 1; }
  message Diagnostic {
    enum Severity { INVALID = 0; ERROR = 1; WARNING = 2; }
    Severity severity = 1;
    string summary = 2;
    string detail = 3;
  }
  message Diagnosed { repeated Diagnostic diagnostics = 1; }
  message Attribute {
    string name = 1;
    bytes type = 2;
    string description = 3;
    bool required = 4;
    bool optional = 5;
    bool computed = 6;
  }
  message Block { int64 version = 1; repeated Attribute attributes = 2; }
  message Schema { int64 version = 1; Block block = 2; }
  message Schemas { Schema provider = 1; map<string, Schema> resource_schemas = 2; }

  message ProviderConfig { DynamicValue config = 1; }
  message Configuration { string terraform_version = 1; DynamicValue config = 2; }
  message PreparedConfig { DynamicValue prepared_config = 1; }
  message ResourceConfig { string type_name = 1; DynamicValue config = 2; }
  message StoredState { string type_name = 1; int64 version = 2; RawState raw_state = 3; }
  message UpgradedState { DynamicValue upgraded_state = 1; }
  message CurrentState { string type_name = 1; DynamicValue current_state = 2; }
  message NewState { DynamicValue new_state = 1; }
  message Proposal {
    string type_name = 1;
    DynamicValue prior_state = 2;
    DynamicValue proposed_new_state = 3;
  }
  message Plan { DynamicValue planned_state = 1; }
  message PlannedChange {
    string type_name = 1;
    DynamicValue prior_state = 2;
    DynamicValue planned_state = 3;
  }

  service Provider {
    rpc GetSchema(Empty) returns (Schemas);
    rpc PrepareProviderConfig(ProviderConfig) returns (PreparedConfig);
    rpc Configure(Configuration) returns (Diagnosed);
    rpc ValidateResourceTypeConfig(ResourceConfig) returns (Diagnosed);
    rpc UpgradeResourceState(StoredState) returns (UpgradedState);
    rpc ReadResource(CurrentState) returns (NewState);
    rpc PlanResourceChange(Proposal) returns (Plan);
    rpc ApplyResourceChange(PlannedChange) returns (NewState);
    rpc Stop(Empty) returns (Empty);
  }
`

const goPlugin = `
  syntax = "proto3";
  package plugin;

  message Nothing {}
  service GRPCController { rpc Shutdown(Nothing) returns (Nothing); }
`

export const protocol = new protobuf.Root()
for (const source of [plugin, goPlugin]) protobuf.parse(source, protocol)
