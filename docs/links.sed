# Links of the Markdown files that lead into the tree, for the pages that Doxygen makes: to the page of a header, or none.
s,](\(\.\./\)\?include/\([a-z_]*\.hp\{0\,2\}\)),](@ref \2),g
s,\[\([^]]*\)\](\(\.\./\)\?\(testfuncs\|apps\|tests\|bench\|tools\|lib\|LICENSE\)[^)]*),\1,g
s,\[\([^]]*\)\](\(tables/[^)]*\.md\)),\1,g
