// The provider that the end-to-end tests install: real, small, and without any need of a network.
package main

import (
	"context"
	"log"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	dataschema "github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// Set with -ldflags "-X main.version=...".
var version = "dev"

func main() {
	options := providerserver.ServeOpts{Address: "depot.test/platform/stamp", ProtocolVersion: 5}
	if err := providerserver.Serve(context.Background(), func() provider.Provider { return stamp{} }, options); err != nil {
		log.Fatal(err)
	}
}

type stamp struct{}

func (stamp) Metadata(_ context.Context, _ provider.MetadataRequest, response *provider.MetadataResponse) {
	response.TypeName = "stamp"
	response.Version = version
}
func (stamp) Schema(context.Context, provider.SchemaRequest, *provider.SchemaResponse)          {}
func (stamp) Configure(context.Context, provider.ConfigureRequest, *provider.ConfigureResponse) {}
func (stamp) Resources(context.Context) []func() resource.Resource {
	return []func() resource.Resource{func() resource.Resource { return note{} }}
}
func (stamp) DataSources(context.Context) []func() datasource.DataSource {
	return []func() datasource.DataSource{func() datasource.DataSource { return release{} }}
}

// note is a resource that keeps a text in the state, with the version of the provider that wrote it.
type note struct{}

type noteModel struct {
	Text      types.String `tfsdk:"text"`
	WrittenBy types.String `tfsdk:"written_by"`
}

func (note) Metadata(_ context.Context, _ resource.MetadataRequest, response *resource.MetadataResponse) {
	response.TypeName = "stamp_note"
}

func (note) Schema(_ context.Context, _ resource.SchemaRequest, response *resource.SchemaResponse) {
	response.Schema = schema.Schema{Attributes: map[string]schema.Attribute{
		"text":       schema.StringAttribute{Required: true},
		"written_by": schema.StringAttribute{Computed: true},
	}}
}

func (note) Create(ctx context.Context, request resource.CreateRequest, response *resource.CreateResponse) {
	var model noteModel
	response.Diagnostics.Append(request.Plan.Get(ctx, &model)...)
	model.WrittenBy = types.StringValue(version)
	response.Diagnostics.Append(response.State.Set(ctx, model)...)
}

func (note) Update(ctx context.Context, request resource.UpdateRequest, response *resource.UpdateResponse) {
	var model noteModel
	response.Diagnostics.Append(request.Plan.Get(ctx, &model)...)
	model.WrittenBy = types.StringValue(version)
	response.Diagnostics.Append(response.State.Set(ctx, model)...)
}

func (note) Read(context.Context, resource.ReadRequest, *resource.ReadResponse)       {}
func (note) Delete(context.Context, resource.DeleteRequest, *resource.DeleteResponse) {}

// release is a data source that tells the provider's version.
type release struct{}

func (release) Metadata(_ context.Context, _ datasource.MetadataRequest, response *datasource.MetadataResponse) {
	response.TypeName = "stamp_release"
}

func (release) Schema(_ context.Context, _ datasource.SchemaRequest, response *datasource.SchemaResponse) {
	response.Schema = dataschema.Schema{Attributes: map[string]dataschema.Attribute{
		"version": dataschema.StringAttribute{Computed: true},
	}}
}

func (release) Read(ctx context.Context, _ datasource.ReadRequest, response *datasource.ReadResponse) {
	model := struct {
		Version types.String `tfsdk:"version"`
	}{types.StringValue(version)}
	response.Diagnostics.Append(response.State.Set(ctx, model)...)
}
