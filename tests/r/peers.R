# What R says of the tables in a folder, every number with all its digits: figures.csv, with the versions above it.
# Rscript peers.R FOLDER
suppressMessages({library(kernlab); library(fastICA); library(FactoMineR)})
folder <- commandArgs(TRUE)[1]
wine <- as.matrix(read.csv(file.path(folder, "wine.csv")))
mixed <- as.matrix(read.csv(file.path(folder, "mixed.csv")))
out <- file(file.path(folder, "figures.csv"), "w")
versions <- sapply(c("kernlab", "fastICA", "FactoMineR"), function(p) as.character(packageVersion(p)))
cat("# R ", as.character(getRversion()), ", ", paste(names(versions), versions, collapse = ", "), "\n", sep = "", file = out)
cat("name,row,column,value\n", file = out)
kept <- function(name, x) {
  x <- as.matrix(x)
  for (j in seq_len(ncol(x))) for (i in seq_len(nrow(x)))
    cat(name, ",", i, ",", j, ",", format(x[i, j], digits = 17), "\n", sep = "", file = out)
}

p <- prcomp(wine, scale. = TRUE)
kept("prcomp variances", p$sdev^2)
kept("prcomp rotation", p$rotation[, 1:4])
kept("prcomp scores", p$x[1:5, 1:4])

f <- PCA(as.data.frame(wine), scale.unit = TRUE, ncp = 4, graph = FALSE)
kept("FactoMineR eigenvalues", f$eig[, 1])
kept("FactoMineR coordinates", f$ind$coord[1:5, ])
kept("FactoMineR correlations", f$var$cor)

z <- scale(wine)
k <- kpca(z, kernel = "rbfdot", kpar = list(sigma = 0.05), features = 4)
kept("kernlab rbf eigenvalues", eig(k))
kept("kernlab rbf scores", rotated(k)[1:5, ])
k <- kpca(z, kernel = "polydot", kpar = list(degree = 2, scale = 1, offset = 1), features = 4)
kept("kernlab poly eigenvalues", eig(k))
kept("kernlab poly scores", rotated(k)[1:5, ])

set.seed(0)
a <- fastICA(mixed, 3, alg.typ = "parallel", fun = "logcosh", alpha = 1, maxit = 1000, tol = 1e-12)
kept("fastICA unmixing", t(a$K %*% a$W))
close(out)
